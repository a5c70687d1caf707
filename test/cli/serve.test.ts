import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { type CliRun, ended, runCli, serveCli, spawnCli } from '../helpers/run-cli.ts';
import { aStudioWorkspace } from '../helpers/running-studio.ts';

let folder: string;
let workspace: string;
let db: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-serve-'));
  workspace = join(folder, 'workspace.json');
  db = join(folder, 'placard.db');
  writeFileSync(workspace, JSON.stringify(aWorkspace({ campaigns: [aCampaign()] })));
});
afterEach(() => rmSync(folder, { recursive: true }));

const post = (url: string, path: string, key: string, body: unknown) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
/** Byte offset of a table's root page in the file. */
const getFirstByte = (table: string): number => {
  const database = new DatabaseSync(db, { readOnly: true });
  const page = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.['rootpage'];
  database.close();
  return (Number(page) - 1) * 4_096;
};

const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1' };

const getLines = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Exit code of a failed service, and the reason in its log. */
const getFailure = ({ code, stdout }: CliRun) => ({
  code,
  problem: getLines(stdout).find(({ level }) => level === 'fatal')?.['problem'],
});
const failedServe = async (words: string[]) => getFailure(await spawnCli(['serve', ...words]));

describe('the database URL', () => {
  const secret = 'postgres://placard:s3cret@127.0.0.1:1/placard';
  const exported = (words: string[], env = {}) => runCli(['export', 'users', ...words], env);

  test('is read from the file in PLACARD_DB_FILE', async () => {
    const file = join(folder, 'database');
    const store = await openStore(db);
    await store.close();
    writeFileSync(file, `${db}\n`);
    expect(await exported([], { PLACARD_DB_FILE: file })).toMatchObject({ code: 0, stderr: '' });
    const both = await exported([], { PLACARD_DB_FILE: file, PLACARD_DB: db });
    expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('keep one of them') });
    writeFileSync(file, '\n');
    const empty = await exported([], { PLACARD_DB_FILE: file });
    expect(empty).toMatchObject({
      code: 1,
      stderr: `placard: ${file}, which PLACARD_DB_FILE names, is empty\n`,
    });
  });

  test('causes a warning if it has a password on the command line', async () => {
    for (const url of [secret, 'postgres://127.0.0.1:1/placard?password=s3cret']) {
      const { stderr } = await exported(['--db', url]);
      expect(stderr).toContain('use PLACARD_DB or PLACARD_DB_FILE');
      expect(stderr).not.toContain('s3cret');
    }
    const inEnvironment = await exported([], { PLACARD_DB: secret });
    expect(inEnvironment.stderr).not.toContain('process list');
    const without = await exported(['--db', 'postgres://placard@127.0.0.1:1/placard']);
    expect(without.stderr).not.toContain('process list');
  });
});

describe('placard serve', () => {
  test('serves requests, exits with 0 on SIGTERM, and keeps acknowledged data', async () => {
    const { child, url, exit } = await serveCli(['--workspace', workspace, '--db', db, '--port', '0']);
    const started = new Date();
    const odd = 'zażółć 🎈 "quoted"\n';
    const tracked = await post(url, '/users/track', SERVER_KEY, {
      attributes: [{ external_id: 'u-771', email: 'kim@example.org', note: odd }],
      events: [
        {
          external_id: 'u-771',
          name: 'quiz_done',
          time: '2026-03-01T09:15:00+01:00',
          properties: { score: 8 },
        },
      ],
      purchases: [
        {
          external_id: 'u-771',
          product_id: 'teapot',
          currency: 'EUR',
          price: 42.5,
          time: '2026-03-01T09:16:00Z',
        },
      ],
    });
    expect(tracked.status).toBe(201);
    const sync = await post(url, '/v1/device-messaging/banners/sync', CLIENT_KEY, {
      ...envelope,
      placements: ['home'],
    });
    const { banners } = (await sync.json()) as { banners: { home: { id: string } } };
    const event = { id: banners.home.id, event_type: 'click', timestamp: '2026-03-01T09:20:01.250+01:00' };
    expect(
      (
        await post(url, '/v1/device-messaging/banners/track', CLIENT_KEY, {
          ...envelope,
          events: [event, event],
        })
      ).status,
    ).toBe(202);

    // While the service runs.
    const users = await runCli(['export', 'users', '--db', db]);
    expect(getLines(users.stdout)).toEqual([
      expect.objectContaining({
        external_id: 'u-771',
        email: 'kim@example.org',
        custom_attributes: { note: odd },
      }),
    ]);
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0, signal: null, stderr: '' });

    // After the service has stopped.
    const events = getLines((await runCli(['export', 'events', '--db', db])).stdout);
    expect(events).toEqual([
      expect.objectContaining({
        type: 'event',
        external_id: 'u-771',
        name: 'quiz_done',
        time: '2026-03-01T08:15:00.000Z',
        properties: { score: 8 },
      }),
      expect.objectContaining({ type: 'purchase', product_id: 'teapot', currency: 'EUR', price: 42.5 }),
    ]);
    const clicks = getLines((await runCli(['export', 'banner-events', '--db', db])).stdout);
    expect(clicks).toEqual([
      {
        external_user_id: 'u-771',
        app_id: APP_ID,
        banner_id: banners.home.id,
        campaign_id: 'c1',
        variant_id: 'a',
        placement_id: 'home',
        is_control: false,
        is_first_of_type: true,
        event_type: 'click',
        timestamp: '2026-03-01T08:20:01.250Z',
        reported_at: '2026-03-01T08:20:01.250Z',
        received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ]);
    const points = getLines((await runCli(['export', 'data-points', '--db', db])).stdout);
    expect(points).toEqual([{ day: expect.any(String), data_points: expect.any(Number) }]);
    // Midnight may have passed in the meantime.
    const days = [started, new Date()].map((date) => date.toISOString().slice(0, 10));
    expect(days).toContain(points[0]!['day']);
  });

  test('prefers command-line options to environment variables', async () => {
    const env = { PLACARD_WORKSPACE: workspace, PLACARD_DB: ':memory:', PORT: '1', HOST: '127.0.0.1' };
    const { child, url, exit } = await serveCli(['--port', '0'], env);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    child.kill('SIGINT');
    expect((await exit).code).toBe(0);
  });

  test('logs its workspaces, its warnings, and whether other machines can connect', async () => {
    const limits = { banners_sync: { requests: 300, window_seconds: 60 } };
    writeFileSync(workspace, JSON.stringify(aWorkspace({ campaigns: [aCampaign()], limits })));
    const started = async (env: Record<string, string>) => {
      const words = ['--workspace', workspace, '--db', ':memory:', '--port', '0'];
      const { child, exit, lines, url } = await serveCli(words, env);
      const metrics = await fetch(`${url}/metrics`);
      child.kill('SIGTERM');
      await exit;
      return { lines, metrics: metrics.status };
    };
    const [inside, open, closed] = await Promise.all([
      started({}),
      started({ HOST: '0.0.0.0' }),
      started({ HOST: '0.0.0.0', PLACARD_METRICS_TOKEN: 'a-token' }),
    ]);
    expect(inside.lines.slice(0, 2)).toEqual([
      expect.objectContaining({
        level: 'info',
        msg: 'workspace loaded',
        workspace: 'test',
        campaigns: 1,
        active: 1,
        placements: ['home'],
        keys: ['api_keys[0]', 'api_keys[1]'],
      }),
      expect.objectContaining({
        level: 'warn',
        msg: 'workspace file',
        warning: expect.stringMatching(
          /^limits\.banners_sync: the limit of 300 requests in 60 seconds counts all users/,
        ),
      }),
    ]);
    const says = ({ lines }: typeof inside, words: string) =>
      lines.some(({ msg }) => String(msg).startsWith(words));
    expect(
      [inside, open, closed].map((each) => says(each, 'only this machine can reach the service')),
    ).toEqual([true, false, false]);
    expect([inside, open, closed].map((each) => says(each, '/metrics is open to everyone'))).toEqual([
      false,
      true,
      false,
    ]);
    expect([inside, open, closed].map(({ metrics }) => metrics)).toEqual([200, 200, 401]);
  });

  test('listens on localhost if the environment variables are empty', async () => {
    const env = { HOST: '', LOG_LEVEL: '', PLACARD_WORKSPACE: '' };
    const words = ['--workspace', workspace, '--db', ':memory:', '--port', '0'];
    const { child, url, exit } = await serveCli(words, env);
    child.kill('SIGTERM');
    expect((await exit).code).toBe(0);
    expect(new URL(url).hostname).toBe('127.0.0.1');
  });

  test('completes an open request after SIGTERM', async () => {
    const { child, url, exit } = await serveCli(['--workspace', workspace, '--db', db, '--port', '0']);
    const encoder = new TextEncoder();
    const body = JSON.stringify({ attributes: [{ external_id: 'late' }] });
    const gate = Promise.withResolvers<void>();
    const stream = new ReadableStream({
      async start(controller) {
        controller.enqueue(encoder.encode(body.slice(0, 10)));
        await gate.promise;
        controller.enqueue(encoder.encode(body.slice(10)));
        controller.close();
      },
    });
    const answer = fetch(`${url}/users/track`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    // Once a later request gets its response, this request has started.
    await fetch(`${url}/healthz`);
    child.kill('SIGTERM');
    while ((await fetch(`${url}/readyz`).catch(() => null)) !== null);
    gate.resolve();
    expect((await answer).status).toBe(201);
    expect((await exit).code).toBe(0);
    expect((await runCli(['export', 'users', '--db', db])).stdout).toContain('"late"');
  });

  test('reloads the workspace, and logs the problems of an invalid edit', async () => {
    const { child, url, lines, exit } = await serveCli([
      '--workspace',
      workspace,
      '--db',
      ':memory:',
      '--port',
      '0',
    ]);
    const home = async () => {
      const answer = await post(url, '/v1/device-messaging/banners/sync', CLIENT_KEY, {
        ...envelope,
        placements: ['home'],
      });
      return ((await answer.json()) as { banners: { home: unknown } }).banners.home;
    };
    const until = async (message: string) => {
      while (!lines.some(({ msg }) => msg === message)) await fetch(`${url}/healthz`);
    };
    expect(await home()).not.toBeNull();
    writeFileSync(workspace, '{"workspace_id": 5}');
    await until('workspace not reloaded: previous one stays in use');
    expect(await home()).not.toBeNull();
    writeFileSync(workspace, JSON.stringify(aWorkspace({ campaigns: [aCampaign({ status: 'stopped' })] })));
    await until('workspace reloaded');
    expect(await home()).toBeNull();
    child.kill('SIGTERM');
    await exit;
  });

  test('does not log keys or personal data', async () => {
    const { child, url, exit } = await serveCli([
      '--workspace',
      workspace,
      '--db',
      ':memory:',
      '--port',
      '0',
    ]);
    const secret = 'somebodys-secret-key';
    await post(url, '/users/track', secret, {});
    await post(url, '/users/track', SERVER_KEY, {
      attributes: [
        { external_id: 'jane-doe', email: 'jane@example.org', phone: '+48123456789' },
        { email: 'not an address' },
      ],
    });
    await post(url, '/v1/device-messaging/banners/sync', CLIENT_KEY, { external_user_id: 'jane-doe' });
    child.kill('SIGTERM');
    const { stdout, stderr } = await exit;
    expect(stdout + stderr).not.toMatch(
      /secret-key|jane|example\.org|48123456789|not an address|test-(client|server)-key/,
    );
    expect(getLines(stdout).map(({ msg }) => msg)).toEqual([
      'workspace loaded',
      'listening',
      expect.stringMatching(/^only this machine/),
      'requests rejected',
      'requests rejected',
      'stopping',
      'stopped',
    ]);
  });

  test('reads its log level from LOG_LEVEL', async () => {
    const env = { LOG_LEVEL: 'debug' };
    const { child, url, exit } = await serveCli(
      ['--workspace', workspace, '--db', ':memory:', '--port', '0'],
      env,
    );
    await post(url, '/users/track?who=jane', SERVER_KEY, {});
    await fetch(`${url}/users/jane`);
    child.kill('SIGTERM');
    const { stdout } = await exit;
    expect(getLines(stdout).filter(({ msg }) => msg === 'request handled')).toEqual([
      expect.objectContaining({ level: 'debug', method: 'POST', path: '/users/track', status: 400 }),
      expect.objectContaining({ level: 'debug', method: 'GET', status: 404 }),
    ]);
    expect(stdout).not.toContain('jane');
    const silent = await spawnCli(['serve', '--db', ''], { LOG_LEVEL: 'silent' });
    expect(silent).toMatchObject({ code: 1, stdout: '', stderr: 'placard: --db needs a value\n' });
    const wrong = await runCli(['serve', '--workspace', workspace], { LOG_LEVEL: 'loud' });
    expect(wrong.stderr).toMatch(/^placard: LOG_LEVEL must be one of trace, .*, got "loud"\n$/);
  });

  test('sets the V8 flags of its process', async () => {
    const tellsFlags = `import v8 from 'node:v8';
      import { syncBuiltinESMExports } from 'node:module';
      const { setFlagsFromString } = v8;
      v8.setFlagsFromString = (flags) => { console.error(flags); setFlagsFromString(flags); };
      syncBuiltinESMExports();`;
    const { child, exit } = await serveCli(['--workspace', workspace, '--db', ':memory:', '--port', '0'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellsFlags)}`,
    });
    child.kill('SIGTERM');
    expect((await exit).stderr).toContain('--no-allocation-site-pretenuring');
  });

  test.each<[string[], string]>([
    [['--db', ''], '--db needs a value'],
    [['--host='], '--host needs a value'],
    [['--port', '99999'], '--port must be a number from 0 to 65535, got "99999"'],
    [['--drain-seconds', 'long'], '--drain-seconds must be a number from 0 to 3600, got "long"'],
  ])('exits with one log line if started with %j', async (words, problem) => {
    expect(getFailure(await runCli(['serve', ...words]))).toEqual({ code: 1, problem });
  });

  test('exits with one sentence for an unknown option', async () => {
    const { code, stderr, stdout } = await runCli(['serve', '--prot', '80']);
    expect({ code, stderr, stdout }).toEqual({
      code: 1,
      stderr:
        'placard: unknown option --prot; the options are --workspace, --db, --port, --host, --drain-seconds, --studio-port, --studio-host, --studio-url, --service-url, --trusted-proxies\n',
      stdout: '',
    });
  });

  test('prints its version', async () => {
    const [short, long] = await Promise.all([runCli(['--version']), runCli(['serve', '--version'])]);
    expect(long).toMatchObject({ code: 0, stdout: short.stdout });
    expect(long.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    ['127.0.0.1:1/x?user=u&password=hush', '127.0.0.1:1/x'],
    ['u:hu@sh@127.0.0.1:1/x', '127.0.0.1:1/x'],
    ['u:hu/sh@127.0.0.1:1/x', '…'],
  ])('hides the credentials of postgres://%s', async (rest, shown) => {
    const { code, stdout, stderr } = await spawnCli([
      'serve',
      '--workspace',
      workspace,
      '--db',
      `postgres://${rest}`,
    ]);
    expect(getFailure({ code, stdout, stderr, signal: null })).toEqual({
      code: 1,
      problem: expect.stringContaining(`cannot open database postgres://${shown}: `),
    });
    expect(stdout + stderr).not.toMatch(/hu|sh@|user=/);
  });

  test('exits if the database has a corrupt page, and releases the lock', async () => {
    await (await openStore(db)).close();
    const intact = readFileSync(db);
    const damaged = Buffer.from(intact);
    damaged.fill(0xff, getFirstByte('users'), getFirstByte('users') + 4_096);
    writeFileSync(db, damaged);
    expect(await failedServe(['--workspace', workspace, '--db', db, '--port', '0'])).toEqual({
      code: 1,
      problem: `cannot open database ${db}: database disk image is malformed`,
    });
    // A failed open also releases the file in a process that keeps running.
    await expect(openStore(db)).rejects.toThrow('malformed');
    writeFileSync(db, intact);
    await (await openStore(db)).close();
  });

  test('exits if the releases cannot be read', async () => {
    writeFileSync(workspace, JSON.stringify(aStudioWorkspace()));
    await (await openStore(db)).close();
    const broken = new DatabaseSync(db);
    broken.exec('DROP TABLE releases');
    broken.close();
    expect(await failedServe(['--workspace', workspace, '--db', db, '--port', '0'])).toEqual({
      code: 1,
      problem: expect.stringContaining("it has no table 'releases'"),
    });
  });

  test('reports a full disk when it creates a database', async () => {
    // Files end at 20 KiB, amid the first tables. `XFSZ` is ignored, so that the write fails instead.
    const command = 'trap "" XFSZ; ulimit -f 20; exec "$0" src/cli/placard.ts serve "$@"';
    const words = ['--workspace', workspace, '--db', db, '--port', '0'];
    const run = await ended(spawn('bash', ['-c', command, process.execPath, ...words]));
    const problem = `cannot open database ${db}: disk I/O error`;
    expect(getFailure(run)).toEqual({ code: 1, problem });
  });

  test.each([
    ['127.0.0.1', { problem: null, warning: expect.stringMatching(/^Only this machine/) }],
    ['0.0.0.0', { problem: expect.stringContaining('--service-url'), warning: null }],
  ])('derives the URL of images only if the Studio is local: on %s', async (host, said) => {
    writeFileSync(workspace, JSON.stringify(aStudioWorkspace()));
    // Does not need the built Studio pages.
    const hasNoPages = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { existsSync, readdirSync } = fs;
      fs.existsSync = (path) => /studio-pages.index.html$/.test(path) || existsSync(path);
      fs.readdirSync = (path, options) => /studio-pages.$/.test(path) ? [] : readdirSync(path, options);
      syncBuiltinESMExports();`;
    const words = ['--workspace', workspace, '--db', ':memory:', '--port', '0', '--studio-port', '0'];
    const { child, lines, exit } = await serveCli([...words, '--studio-host', host], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hasNoPages)}`,
    });
    const { port } = new URL(String(lines.find(({ msg }) => msg === 'Studio listening')?.['url']));
    const origin = `http://127.0.0.1:${port}`;
    const signedIn = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'Ed-key' }),
    });
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    const answer = await fetch(`${origin}/api/images`, { headers: { cookie } });
    const library = await answer.json();
    child.kill('SIGTERM');
    await exit;
    expect(library).toEqual({ images: [], ...said });
  });

  test('exits with one sentence if the URL of the service is invalid', async () => {
    const wrong = await failedServe([
      ...['--workspace', workspace, '--db', ':memory:', '--port', '0'],
      ...['--studio-port', '0', '--service-url', 'api.example'],
    ]);
    expect(wrong).toEqual({
      code: 1,
      problem: '--service-url must be a URL such as https://api.example, got "api.example"',
    });
  });

  test('exits with one sentence if the port is in use, or if the file is not a database', async () => {
    const { child, url, exit } = await serveCli([
      '--workspace',
      workspace,
      '--db',
      ':memory:',
      '--port',
      '0',
    ]);
    const { port } = new URL(url);
    expect(await failedServe(['--workspace', workspace, '--db', ':memory:', '--port', port])).toEqual({
      code: 1,
      problem: `port ${port} on 127.0.0.1 is in use; choose another with --port`,
    });
    child.kill('SIGTERM');
    await exit;
    writeFileSync(db, 'this is not a database, and long enough to be looked at as one'.repeat(20));
    const dbs = [db, join(folder, 'no', 'such', 'folder.db'), folder, 'mysql://me:secret@db/x'];
    const [third, fourth, fifth, sixth] = await Promise.all(
      dbs.map((each) => failedServe(['--workspace', workspace, '--db', each, '--port', '0'])),
    );
    expect(third!.code).toBe(1);
    expect(third!.problem).toMatch(/^cannot open database [^\n]+placard\.db: [^\n]+$/);
    expect(fourth!.problem).toMatch(/^cannot open database [^\n]+folder\.db: [^\n]+such does not exist$/);
    expect(fifth!.problem).toMatch(/^cannot open database [^\n]+: it is a folder$/);
    expect(sixth!.problem).toBe(
      'cannot open database mysql://db/x: expected a file, :memory: or a postgres:// URL',
    );
  });
});

test('reads the token of /metrics from the file in PLACARD_METRICS_TOKEN_FILE', async () => {
  const file = join(folder, 'token');
  writeFileSync(file, 'a-token\n');
  const words = ['--workspace', workspace, '--db', ':memory:', '--port', '0'];
  const { child, url, exit } = await serveCli(words, { PLACARD_METRICS_TOKEN_FILE: file });
  const ask = (headers: Record<string, string>) => fetch(`${url}/metrics`, { headers });
  const statuses = [await ask({}), await ask({ authorization: 'Bearer a-token' })].map(
    ({ status }) => status,
  );
  child.kill('SIGTERM');
  await exit;
  expect(statuses).toEqual([401, 200]);
});

describe('SIGTERM', () => {
  const words = () => ['--workspace', workspace, '--db', ':memory:', '--port', '0'];
  const getStatus = (url: string) => fetch(url).then(({ status }) => status);

  test('fails /readyz first, and serves requests until the drain ends', async () => {
    const started = await serveCli([...words(), '--drain-seconds', '3600']);
    const { child, url, lines, exit } = started;
    expect(await getStatus(`${url}/readyz`)).toBe(200);
    child.kill('SIGTERM');
    await expect.poll(() => getStatus(`${url}/readyz`)).toBe(503);
    const tracked = await post(url, '/users/track', SERVER_KEY, { attributes: [{ external_id: 'u-1' }] });
    expect([tracked.status, tracked.headers.get('connection')]).toEqual([201, 'keep-alive']);
    // A second signal ends the drain, not the process: requests in flight still get a response.
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0, signal: null });
    expect(lines.find(({ msg }) => msg === 'stopping')).toMatchObject({ drain_seconds: 3600 });
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('ends the process after the drain without another signal', async () => {
    const { child, exit } = await serveCli([...words(), '--drain-seconds', '0.05']);
    child.kill('SIGTERM');
    expect(await exit).toMatchObject({ code: 0, signal: null });
  });
});

test('stops on SIGINT without a drain', async () => {
  const { child, exit } = await serveCli([
    '--workspace',
    workspace,
    '--db',
    ':memory:',
    '--port',
    '0',
    '--drain-seconds',
    '3600',
  ]);
  child.kill('SIGINT');
  expect(await exit).toMatchObject({ code: 0, signal: null });
});

test('reloads the workspace on SIGHUP, even if the file looks unchanged', async () => {
  const { child, exit, lines } = await serveCli([
    '--workspace',
    workspace,
    '--db',
    ':memory:',
    '--port',
    '0',
  ]);
  const logged = (msg: string) => () => lines.some((line) => line['msg'] === msg);
  child.kill('SIGHUP');
  await expect.poll(logged('workspace unchanged')).toBe(true);
  const { atime, mtime } = statSync(workspace);
  writeFileSync(workspace, readFileSync(workspace, 'utf8').replace('"active"', '"paused"'));
  utimesSync(workspace, atime, mtime);
  child.kill('SIGHUP');
  await expect.poll(logged('workspace not reloaded: previous one stays in use')).toBe(true);
  child.kill('SIGTERM');
  expect(await exit).toMatchObject({ code: 0 });
});
