// A newcomer's first steps: `npm start`, then the curl command that it prints.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { curl } from '../helpers/curl.ts';
import { freePort } from '../helpers/free-port.ts';
import { patience } from '../helpers/patience.ts';

let folder: string;
let npm: ChildProcess;
let printed = '';
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-start-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  // Its own process group, so that no child process is left behind.
  npm = spawn('npm', ['start'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: String(port), PLACARD_DB: join(folder, 'demo.db') },
  });
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk;
      if (printed.includes('Ctrl+C')) resolve();
    };
    npm.stdout!.on('data', read);
    npm.stderr!.on('data', read);
    npm.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${printed}`)));
  });
});
afterAll(async () => {
  process.kill(-npm.pid!, 'SIGKILL');
  await rm(folder, { recursive: true });
});

describe('npm start', () => {
  test('prints the URLs of the shop, the Studio and the API, and all of them respond', async () => {
    const urls = [...new Set(printed.match(/http:\/\/127\.0\.0\.1:\d+\/[\w./-]*/g))].filter(
      (found) => !found.includes('/v1/'),
    );
    expect(urls.length).toBeGreaterThanOrEqual(3);
    for (const found of urls) expect((await fetch(found)).status, found).toBe(200);
  });

  test('prints the demo keys', () => {
    expect(printed).toContain('demo-client-key');
    expect(printed).toContain('demo-server-key');
  });

  test('prints a curl command that returns a banner', async () => {
    const line = printed.split('\n').find((text) => text.trim().startsWith('curl '));
    const { banners } = (await (await curl(line!.trim())).json()) as {
      banners: Record<string, { placement_id: string }>;
    };
    expect(banners['home_hero']).toMatchObject({ placement_id: 'home_hero', is_control: false });
  });

  test('serves the demo under a strict policy', async () => {
    const { headers } = await fetch(`${url}/`);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('exits with npm without leaving a process on its port or database', async () => {
    const gone = new Promise((resolve) => npm.once('exit', resolve));
    npm.kill('SIGTERM');
    await gone;
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => 'there',
            () => 'gone',
          ),
        { timeout: patience(20_000) },
      )
      .toBe('gone');
  });
});
