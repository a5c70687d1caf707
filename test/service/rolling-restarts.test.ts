import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { freePort } from '../helpers/free-port.ts';
import { inPath, needs } from '../helpers/machine.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { serveCli } from '../helpers/run-cli.ts';

/** The documentation promises the number for `PLACARD_LONG=20`. */
const ROUNDS = Number(process.env['PLACARD_LONG'] ?? 1);
const CONNECTIONS = 16;

interface Proxy {
  child: ChildProcess;
  url: string;
}

const aFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-rolling-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const started = (child: ChildProcess, port: number): Proxy => {
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  return { child, url: `http://127.0.0.1:${port}` };
};

const startCaddy = async (replicas: readonly number[]): Promise<Proxy> => {
  const [port, studio, admin, folder] = [await freePort(), await freePort(), await freePort(), aFolder()];
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    CADDY_ADMIN: `127.0.0.1:${admin}`,
    PLACARD_SITE: `:${port}`,
    PLACARD_STUDIO_SITE: `:${studio}`,
    PLACARD_REPLICAS: replicas.map((replica) => `127.0.0.1:${replica}`).join(' '),
  };
  const args = ['run', '--adapter', 'caddyfile', '--config', resolve('deploy/Caddyfile')];
  return started(spawn('caddy', args, { env, stdio: 'ignore' }), port);
};

const startNginx = async (replicas: readonly number[]): Promise<Proxy> => {
  const [port, studio, folder] = [await freePort(), await freePort(), aFolder()];
  const file = join(folder, 'nginx.conf');
  const shipped = readFileSync('deploy/nginx.conf', 'utf8');
  const here = shipped
    .replaceAll('/tmp/', `${folder}/`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('listen 8081', `listen 127.0.0.1:${studio}`)
    .replace(/placard-([12]):878[78]/g, (_, which) => `127.0.0.1:${replicas[which - 1]}`);
  writeFileSync(file, here);
  const args = ['-p', folder, '-c', file, '-g', 'daemon off;'];
  return started(spawn('nginx', args, { stdio: 'ignore' }), port);
};

const WRITE = { attributes: [{ external_id: 'u-1', tier: 'gold' }] };
const SYNC = { app_id: APP_ID, app_version: '1', placements: ['home'] };

const post = (url: string, path: string, key: string, body: unknown) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sends writes and syncs in sequence on many connections until stopped. Counts responses by status. */
const startLoad = (url: string) => {
  const statuses: Record<string, number> = {};
  let isOver = false;
  const worker = async (at: number) => {
    while (!isOver) {
      const asked = at % 2 === 0 ? post(url, '/users/track', SERVER_KEY, WRITE) : sync();
      const status = await asked.then(
        async (response) => {
          await response.arrayBuffer();
          return String(response.status);
        },
        (error: Error) => String(error.cause ?? error),
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  let users = 0;
  const sync = () => {
    users += 1;
    // Limits are per user.
    const body = { ...SYNC, external_user_id: `u-${users}` };
    return post(url, '/v1/device-messaging/banners/sync', CLIENT_KEY, body);
  };
  const workers = Array.from({ length: CONNECTIONS }, (_, at) => worker(at));
  return async () => {
    isOver = true;
    await Promise.all(workers);
    return statuses;
  };
};

const limits = {
  users_track: { requests: 1_000_000, window_seconds: 3 },
  banners_sync: { requests: 1_000_000, window_seconds: 60 },
};

/** Restarts two replicas on one database one after the other, under load through a proxy. */
const restartAll = async (
  startProxy: (replicas: readonly number[]) => Promise<Proxy>,
  drainSeconds: string,
) => {
  const workspace = join(aFolder(), 'workspace.json');
  writeFileSync(workspace, JSON.stringify(aWorkspace({ campaigns: [aCampaign()], limits })));
  const database = await aDatabase();
  const ports = [await freePort(), await freePort()];
  const start = (port: number) =>
    serveCli(['--workspace', workspace, '--db', database, '--port', String(port)], {
      PLACARD_DRAIN_SECONDS: drainSeconds,
      LOG_LEVEL: 'debug',
    });
  const replicas = await Promise.all(ports.map(start));
  onTestFinished(async () => {
    for (const { child, exit } of replicas) {
      child.kill('SIGKILL');
      await exit;
    }
  });
  const { url } = await startProxy(ports);
  await expect
    .poll(() => post(url, '/users/track', SERVER_KEY, WRITE).then((r) => r.status, String))
    .toBe(201);
  const serves = (at: number) =>
    expect
      .poll(() => replicas[at]!.lines.some(({ msg }) => msg === 'request handled'), { timeout: 60_000 })
      .toBe(true);
  const stopLoad = startLoad(url);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const at of [0, 1]) {
      await serves(1 - at);
      replicas[at]!.child.kill('SIGTERM');
      expect((await replicas[at]!.exit).code).toBe(0);
      replicas[at] = await start(ports[at]!);
      // The proxy routes requests to it again.
      await serves(at);
    }
  }
  return stopLoad();
};

const TIMEOUT = 120_000 + ROUNDS * 60_000;

describe('a rolling restart of two replicas under load', () => {
  test('does not cause errors behind deploy/Caddyfile', {
    timeout: TIMEOUT,
    ...needs('apt-get install caddy', inPath('caddy') !== undefined),
  }, async () => {
    const statuses = await restartAll(startCaddy, '5');
    expect(Object.keys(statuses).sort(), JSON.stringify(statuses)).toEqual(['200', '201']);
  });

  test('does not cause errors behind deploy/nginx.conf, which has no readiness checks', {
    timeout: TIMEOUT,
    ...needs('apt-get install nginx', inPath('nginx') !== undefined),
  }, async () => {
    const statuses = await restartAll(startNginx, '0.2');
    expect(Object.keys(statuses).sort(), JSON.stringify(statuses)).toEqual(['200', '201']);
  });
});
