import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { anApplication } from '../helpers/packed-package.ts';
import { aDatabase } from '../helpers/postgres.ts';

/** The oldest supported Node. Other tests run on the current one. */
const NODE = 'test/oldest-node/node_modules/.bin/node';

let folder: string;
beforeAll(async () => {
  folder = await anApplication({ react: 'react', vue: 'vue' });
  await copyFile(join(folder, 'node_modules/placard/demo/workspace.json'), join(folder, 'workspace.json'));
});
afterAll(() => rm(folder, { recursive: true }));

const start = (args: string[]) => {
  const child = spawn(resolve(NODE), args, { cwd: folder, env: { PATH: process.env['PATH'] ?? '' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exit = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  return { child, exit };
};
const CLI = 'node_modules/placard/dist/placard.js';

/** Starts the installed service and resolves with its address. */
const serve = async (db: string) => {
  const { child, exit } = start([CLI, 'serve', '--db', db, '--port', '0']);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url } = JSON.parse(line) as { msg: string; url: string };
      if (msg === 'listening') resolve(url);
    });
    void exit.then(({ output }) => reject(new Error(output)));
  });
  return {
    url,
    stop: () => {
      child.kill('SIGTERM');
      return exit;
    },
  };
};

const post = (url: string, key: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const track = (url: string) =>
  post(`${url}/users/track`, 'demo-server-key', { attributes: [{ external_id: 'u-1', tier: 'gold' }] });

const ENVELOPE = {
  external_user_id: 'u-1',
  app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
  app_version: '1',
};

const sync = (url: string) =>
  post(`${url}/v1/device-messaging/banners/sync`, 'demo-client-key', {
    ...ENVELOPE,
    placements: ['home_hero'],
  });

const trackImpression = (url: string, id: string) =>
  post(`${url}/v1/device-messaging/banners/track`, 'demo-client-key', {
    ...ENVELOPE,
    events: [{ id, event_type: 'impression', timestamp: new Date().toISOString() }],
  });

describe('the installed package without other packages, on the oldest Node', () => {
  test('runs on the version that it requires', async () => {
    const { output } = await start(['--version']).exit;
    expect(`>=${output.slice('v'.length)}`).toBe(`${manifest.engines.node}.0\n`);
  });

  test.each([
    ['SQLite', async () => join(folder, 'placard.db')],
    ['PostgreSQL', aDatabase],
  ])('serves the API on %s, reports metrics, and exports what it stored', async (_, database) => {
    const db = await database();
    const service = await serve(db);
    expect((await track(service.url)).status).toBe(201);
    const { banners } = await (await sync(service.url)).json();
    expect((await trackImpression(service.url, banners.home_hero.id)).status).toBe(202);
    expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('process_cpu_seconds_total');
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);
    expect(await service.stop()).toMatchObject({ code: 0 });

    const restarted = await serve(db);
    expect((await sync(restarted.url)).status).toBe(200);
    expect(await restarted.stop()).toMatchObject({ code: 0 });
    const verified = await start([CLI, 'check', 'workspace.json', '--verify-results', '--db', db]).exit;
    expect(verified.code, verified.output).toBe(0);
    const { code, output } = await start([CLI, 'export', 'users', '--db', db]).exit;
    expect(code, output).toBe(0);
    expect(output).toContain('"tier":"gold"');
  });

  test('prints the usage of its commands', async () => {
    const { code, output } = await start([CLI, '--help']).exit;
    expect(code).toBe(0);
    expect(output).toContain('serve');
  });

  test.each([
    'placard',
    'placard/element',
    'placard/react',
    'placard/vue',
    'placard/templates',
    'placard/webview',
    'placard/devtools',
    'placard/server',
    'placard/service',
    'placard/testing',
  ])('lets a server import %s', async (entry) => {
    const code = `const all = await import('${entry}'); console.log(Object.keys(all).length > 0)`;
    const { output } = await start(['--input-type=module', '--eval', code]).exit;
    // Node 22 warns that `node:sqlite` is experimental.
    expect(output).toMatch(/^true\n/);
  });
});
