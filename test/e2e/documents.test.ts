// Every TypeScript example of the README and of docs/ is compiled against the built package, and run where it says so.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { allExamples, type Example } from '../helpers/document-examples.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

/** Inside the package, so that `placard` resolves to what is published. */
const FOLDER = 'dist/readme';
const SHOWN_ENDPOINT = 'http://127.0.0.1:8787';
/** The two variants of the campaign for everyone. */
const HEADLINES = /Make room on the shelf|Fresh from the kiln/;
const MARKUP =
  '<div id="hero" style="min-block-size: 200px"></div><placard-banner placement="home_hero"></placard-banner>';

const examples = allExamples().filter(({ language }) => language === 'ts');
const nameOf = ({ file, line }: Example) => `${file.replaceAll(/\W/g, '-')}-line-${line}`;
const fileOf = (example: Example) => `${nameOf(example)}.${example.use === 'vitest' ? 'test.ts' : 'ts'}`;
const titled = (use: string) =>
  examples
    .filter((example) => example.use === use)
    .map((example) => [`${example.file} line ${example.line}`, example] as const);

const run = async (command: string, args: string[]) => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
};

let service: RunningService;

beforeAll(async () => {
  service = await runService([JSON.parse(await readFile('demo/workspace.json', 'utf8'))]);
  service.clock.now = Date.now();
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  for (const example of examples) {
    await writeFile(join(FOLDER, fileOf(example)), example.code.replaceAll(SHOWN_ENDPOINT, service.url));
  }
  await writeFile(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: ['.'], exclude: [] }),
  );
});
afterAll(() => service.stop());

describe('the documents', () => {
  test('have examples that compile against the built package', async () => {
    expect(examples.length).toBeGreaterThan(3);
    const { code, output } = await run('node_modules/.bin/tsc', ['-p', FOLDER]);
    expect(output).toBe('');
    expect(code).toBe(0);
  });

  describe('in a page', () => {
    let browser: Browser;
    let pages: PageServer;
    beforeAll(async () => {
      browser = await launchShell();
      const modules = titled('page').map(([, example]) => [nameOf(example), join(FOLDER, fileOf(example))]);
      pages = await startPageServer({ entries: [], modules: Object.fromEntries(modules) });
      for (const [, example] of titled('page')) {
        const name = nameOf(example);
        pages.set(`/${name}`, { html: MARKUP, script: `import '/placard/${name}.js';` });
      }
    });
    afterAll(async () => {
      await pages?.close();
      await browser?.close();
    });

    test.each(titled('page'))('show a banner with the example of %s', async (_, example) => {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      await page.goto(`${pages.origin}/${nameOf(example)}`);
      await page.getByText(HEADLINES).first().waitFor();
      expect(faults).toEqual([]);
      await page.close();
    });
  });

  test.each(titled('vitest'))('have a test that passes in vitest, %s', async (_, example) => {
    // Longer than a test may take as a rule, for a busy machine.
    const options = ['--root', FOLDER, '--testTimeout', '60000'];
    const { code, output } = await run('node_modules/.bin/vitest', ['run', ...options, fileOf(example)]);
    expect(code, output).toBe(0);
    expect(output).toContain('1 passed');
  });

  // After the pages: the backend example changes the user that the pages show banners to.
  test.each(titled('node'))('have an example that runs in Node, %s', async (_, example) => {
    const { code, output } = await run(process.execPath, [join(FOLDER, fileOf(example))]);
    expect(code, output).toBe(0);
  });
});
