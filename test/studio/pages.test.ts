import { globSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { createPages } from '../../src/studio/server/pages.ts';
import { buildStudioPages } from '../helpers/studio-pages.ts';

/** All scripts, minified and gzipped. 1,360 of it invite operators and 670 archive several campaigns, on demand. */
const MAX_SCRIPT_BYTES = 98_500;
/** Scripts that the list needs; all others load when first shown. 170 of it are the bell with the number of alerts. */
const MAX_FIRST_BYTES = 19_900;

let folder: string;
beforeAll(async () => {
  folder = await buildStudioPages();
});

const scripts = async (): Promise<Map<string, number>> => {
  const names = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.js'));
  const weigh = async (name: string) => {
    const bytes = gzipSync(await readFile(join(folder, 'assets', name)), { level: 9 }).length;
    return [name, bytes] as const;
  };
  return new Map(await Promise.all(names.map(weigh)));
};

describe('the pages of the Studio', () => {
  test('stay within their script budget and defer libraries', async () => {
    const sizes = await scripts();
    const all = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(all, JSON.stringify([...sizes])).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const first = [...sizes].filter(([name]) => html.includes(name));
    expect(first.length).toBeGreaterThan(0);
    expect(first.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(MAX_FIRST_BYTES);
  });

  test('import only types from the server, the service and its libraries', () => {
    const foreign = globSync('src/studio/{pages,campaign,statistics}/**/*.{ts,tsx}').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^import (?!type)[^;]*?from '([^']*)'/gm)]
        .map(([, target]) => target!)
        .filter((target) => /\/(?:server|service)\/|^node:|zod/.test(target))
        .map((target) => `${file}: ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  test('have no space before an ellipsis or a percent sign in texts', () => {
    const spaced = globSync('src/studio/{pages,campaign,statistics}/**/*.{ts,tsx}').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/.* …['"`<].*|.*[\d}] %(?![\s}]*\w+[.[(]).*/g)].map(
        ([line]) => `${file}: ${line.trim()}`,
      ),
    );
    expect(spaced).toEqual([]);
  });

  test('do not write HTML or styles as text', () => {
    const unsafe = globSync('src/studio/pages/**/*.{ts,tsx}').filter((file) =>
      /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|style="|document\.write|\beval\(/.test(
        readFileSync(file, 'utf8'),
      ),
    );
    expect(unsafe).toEqual([]);
  });

  test('have a strict policy, cache hashed files for a year, and serve the page at any other path', () => {
    const page = createPages(folder);
    const [script] = globSync('assets/index-*.js', { cwd: folder });
    expect(page('GET', `/${script}`)?.headers['Cache-Control']).toContain('immutable');
    for (const path of ['/', '/campaigns/a%20b', '/explain']) {
      const { headers, body } = page('GET', path)!;
      expect(headers['Content-Security-Policy']).toMatch(
        /default-src 'none'.*frame-ancestors 'none'.*require-trusted-types-for 'script'/,
      );
      expect(headers['Cache-Control']).toBe('no-cache');
      expect(body).toContain('<title>Placard Studio</title>');
    }
    expect(page('GET', '/preview.html')?.headers['Content-Security-Policy']).toContain(
      "frame-ancestors 'self'",
    );
    expect(page('GET', '/assets/gone.js')).toBeNull();
    expect(page('GET', '/assets/gone')).toBeNull();
    expect(page('GET', '/api/session')).toBeNull();
    expect(page('POST', '/')).toBeNull();
    expect(page('GET', '/../package.json')?.body).toContain('<title>Placard Studio</title>');
  });
});
