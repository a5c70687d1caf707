import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { readRows } from '../../../src/service/store/postgres/reader.ts';
import { createPoolRun, inTransaction, type Run } from '../../../src/service/store/postgres/statement.ts';
import { patience } from '../../helpers/patience.ts';
import { aDatabase, END_ALL, runBeside, waitsFor } from '../../helpers/postgres.ts';
import { tcpDoor } from '../../helpers/tcp-door.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../helpers/tls-certificate.ts';
import { collect } from './examples.ts';

const aPool = async (
  purpose: 'requests' | 'groups' | 'upkeep' = 'groups',
  options?: Parameters<typeof connect>[2],
) => {
  const url = await aDatabase();
  const { pool, close } = connect(url, purpose, { connections: 1, ...options });
  onTestFinished(close);
  return { pool, run: createPoolRun(pool), beside: runBeside(url) };
};

const getProcess = async (run: Run) => (await run('SELECT pg_backend_pid() AS pid'))[0]!['pid'];

test('replaces an idle connection that ended', async () => {
  const { pool, run, beside } = await aPool();
  await run('SELECT 1');
  await beside(END_ALL);
  await expect.poll(() => pool.totalCount).toBe(0);
  expect(await run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('requests durable commits from a database with `synchronous_commit` off', async () => {
  const url = await aDatabase();
  await runBeside(url)(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = off`);
  const { pool, close } = connect(url, 'groups', { connections: 1 });
  onTestFinished(close);
  expect(await createPoolRun(pool)('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
});

test('closes additional connections after a burst, except those of writers', async () => {
  const burst = (pool: Pool) => Promise.all(Array.from({ length: 6 }, () => createPoolRun(pool)('SELECT 1')));
  const { pool } = await aPool('requests', { connections: 4, idleMs: 20 });
  await burst(pool);
  await expect.poll(() => pool.totalCount).toBe(0);
  const writers = await aPool('groups', { connections: 4 });
  await burst(writers.pool);
  expect(writers.pool.options.idleTimeoutMillis).toBe(0);
  expect(writers.pool.totalCount).toBe(4);
});

/** Runs slow statements concurrently. */
const crowd = (pool: Pool, count: number) =>
  Promise.allSettled(Array.from({ length: count }, () => createPoolRun(pool)('SELECT pg_sleep(0.02)')));

/** Pool on a server with this connection limit. */
const aSmallServer = async () => {
  const url = new URL(await aDatabase());
  const beside = runBeside(url.href);
  const role = `few_${url.pathname.slice(1)}`;
  await beside(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  url.username = role;
  url.password = 'secret';
  const { pool, close } = connect(url.href, 'requests');
  onTestFinished(close);
  return { pool, beside, limit: (room: number) => beside(`ALTER ROLE ${role} CONNECTION LIMIT ${room}`) };
};

test('queues for a connection if the server allows few of them', async () => {
  const { pool, limit } = await aSmallServer();
  await limit(2);
  await createPoolRun(pool)('SELECT 1');
  for (let round = 0; round < 3; round += 1) {
    const statuses = (await crowd(pool, 40)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['fulfilled']));
  }
  // The pool grows again once the server allows more connections.
  await limit(20);
  await expect.poll(() => crowd(pool, 40).then(() => pool.totalCount), { timeout: patience(10_000) }).toBe(8);
});

test('rejects callers if no connection works', async () => {
  const { pool, beside, limit } = await aSmallServer();
  await createPoolRun(pool)('SELECT 1');
  await limit(0);
  await beside(END_ALL);
  await expect.poll(() => pool.totalCount).toBe(0);
  expect(new Set((await crowd(pool, 10)).map(({ status }) => status))).toEqual(new Set(['rejected']));
  await limit(2);
  expect(new Set((await crowd(pool, 10)).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
});

test('reports a commit as in doubt only if it had begun when the connection ended', async () => {
  const { pool, run, beside } = await aPool('groups', { connections: 2 });
  await run('CREATE TABLE written (n int)');
  const getName = (error: Error & { code?: string }) => error.code ?? error.name;
  const ended = inTransaction(pool, async (send) => {
    await send('INSERT INTO written VALUES (1)');
    await send('SELECT pg_sleep(600)');
  }).catch(getName);
  await expect.poll(() => beside(waitsFor('PgSleep')), { interval: 10 }).not.toEqual([]);
  await beside(END_ALL);
  expect(await ended).toBe('57P01');
  expect(await run('SELECT n FROM written')).toEqual([]);
  const door = await tcpDoor(await aDatabase());
  const other = connect(door.url, 'groups', { connections: 1 });
  onTestFinished(other.close);
  const cut = createPoolRun(other.pool);
  await cut('CREATE TABLE written (n int)');
  door.cutAnswer('COMMIT');
  const heard = inTransaction(other.pool, (send) => send('INSERT INTO written VALUES (1)')).catch(getName);
  expect(await heard).toBe('InDoubtError');
  expect(await cut('SELECT n FROM written')).toEqual([{ n: 1 }]);
});

test('reads the writes of the previous lock holder at any default isolation level', async () => {
  const url = await aDatabase();
  const [row] = await runBeside(url)('SELECT current_database() AS name');
  await runBeside(url)(
    `ALTER DATABASE ${row!['name']} SET default_transaction_isolation = 'repeatable read'`,
  );
  for (const purpose of ['requests', 'groups'] as const) {
    const { pool, close } = connect(url, purpose);
    onTestFinished(close);
    await inTransaction(pool, async (run) => {
      expect(await run('SHOW transaction_isolation')).toEqual([{ transaction_isolation: 'read committed' }]);
    });
  }
});

test('drops a connection whose server no longer responds', async () => {
  const limits = { lockMs: 0, statementMs: 0, idleInTransactionMs: 0, queryMs: 4_000 };
  const givesUp = async (purpose: 'requests' | 'groups') => {
    const door = await tcpDoor(await aDatabase());
    const { pool, close } = connect(door.url, purpose, { connections: 1, limits });
    onTestFinished(close);
    const run = createPoolRun(pool);
    const first = await getProcess(run);
    door.silence();
    await expect(run('SELECT 1')).rejects.toThrow('Query read timeout');
    expect(await getProcess(run)).not.toBe(first);
  };
  await Promise.all([givesUp('groups'), givesUp('requests')]);
});

test('keeps a connection after the server canceled a slow statement', async () => {
  const { pool, run, beside } = await aPool('groups', {
    limits: { lockMs: 300, statementMs: 2_000, idleInTransactionMs: 0, queryMs: 30_000 },
  });
  await run('CREATE TABLE written (n int)');
  const first = await getProcess(run);
  await expect(run('SELECT pg_sleep(600)')).rejects.toThrow('statement timeout');
  await beside('BEGIN');
  await beside('LOCK TABLE written IN ACCESS EXCLUSIVE MODE');
  await expect(run('SELECT n FROM written')).rejects.toThrow('lock timeout');
  const inside = inTransaction(pool, (send) => send('INSERT INTO written VALUES (1)'));
  await expect(inside).rejects.toThrow('lock timeout');
  expect(await getProcess(run)).toBe(first);
  // The server itself may run autovacuum in this database.
  const here = `SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend'`;
  expect(await beside(here)).toEqual([{ count: '2' }]);
  await beside('COMMIT');
});

test('aborts an idle transaction after a few seconds', async () => {
  const { pool, run, beside } = await aPool('requests', {
    limits: { lockMs: 0, statementMs: 0, idleInTransactionMs: 1_500, queryMs: 30_000 },
  });
  await beside('CREATE TABLE written (n int)');
  const locked = Promise.withResolvers<void>();
  const silence = Promise.withResolvers<void>();
  const stalled = inTransaction(pool, async (send) => {
    await send('INSERT INTO written VALUES (1)');
    await send('LOCK TABLE written IN ACCESS EXCLUSIVE MODE');
    locked.resolve();
    await silence.promise;
  }).catch((error: unknown) => error);
  await locked.promise;
  await beside('INSERT INTO written VALUES (2)');
  silence.resolve();
  expect(await stalled).toBeInstanceOf(Error);
  expect(await run('SELECT n FROM written')).toEqual([{ n: 2 }]);
});

test('sets server timeouts for idle transactions and dead clients', async () => {
  for (const purpose of ['requests', 'groups'] as const) {
    const { run } = await aPool(purpose);
    expect(await run('SHOW idle_in_transaction_session_timeout')).toEqual([
      { idle_in_transaction_session_timeout: '10s' },
    ]);
    expect(await run('SHOW tcp_keepalives_idle')).toEqual([{ tcp_keepalives_idle: '30' }]);
  }
});

test('does not store anything if a transaction cannot begin', async () => {
  const { pool, run } = await aPool();
  await run('CREATE TABLE written (n int)');
  pool.on('acquire', (client) => {
    const query = client.query.bind(client) as (statement: unknown) => unknown;
    const refusingBegin = (statement: { text: string }) =>
      query(statement.text === 'BEGIN' ? { text: 'BEGIN what?' } : statement);
    Object.assign(client, { query: refusingBegin });
  });
  const sent = inTransaction(pool, async (send) => {
    await send('INSERT INTO written VALUES (1)');
  });
  await expect(sent).rejects.toThrow('syntax error');
  expect(await run('SELECT n FROM written')).toEqual([]);
});

test('rejects a reader whose connection ends between two pages, and serves the next reader completely', async () => {
  const { pool, beside } = await aPool('upkeep');
  const numbers = () => readRows(pool, 'SELECT n FROM generate_series(1, $1::int) AS n', ['1200']);
  const reading = numbers();
  expect((await reading.next()).value).toEqual({ n: 1 });
  await beside(END_ALL);
  await expect(collect(reading)).rejects.toThrow();
  expect((await collect(numbers())).map(({ n }) => n)).toEqual(
    Array.from({ length: 1_200 }, (_, i) => i + 1),
  );
});

test('releases the connection of a reader that stops early', async () => {
  const { pool, run } = await aPool('upkeep');
  for await (const row of readRows(pool, 'SELECT n FROM generate_series(1, $1::int) AS n', ['1200'])) {
    expect(row).toEqual({ n: 1 });
    break;
  }
  expect(await run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('replaces a connection to a server that became a replica', async () => {
  const { pool, run } = await aPool();
  await run('CREATE TABLE written (n int)');
  // Like a demoted server that kept its connections.
  const demote = 'SET default_transaction_read_only = on';
  const insert = 'INSERT INTO written VALUES (1)';
  await run(demote);
  await expect(inTransaction(pool, async (send) => send(insert))).rejects.toThrow('read-only');
  await inTransaction(pool, async (send) => send(insert));
  expect(await run('SELECT n FROM written')).toHaveLength(1);
});

test('rolls back a transaction whose statement fails, and reuses its connection', async () => {
  const { pool, run } = await aPool();
  await run('CREATE TABLE written (n int PRIMARY KEY)');
  const first = await getProcess(run);
  const sent = inTransaction(pool, async (send) => {
    await Promise.all([1, 1, 2].map((n) => send(`INSERT INTO written VALUES (${n})`)));
  });
  await expect(sent).rejects.toThrow('duplicate key');
  const thrown = inTransaction(pool, async (send) => {
    await send('INSERT INTO written VALUES (3)');
    throw new Error('changed our mind');
  });
  await expect(thrown).rejects.toThrow('changed our mind');
  expect(await run('SELECT n FROM written')).toEqual([]);
  expect(await getProcess(run)).toBe(first);
});

test('reads TLS parameters of a URL as psql does', async () => {
  const url = await aDatabase();
  const run = runBeside(url);
  const write = (file: string, text: string) =>
    run(
      `COPY (SELECT unnest(string_to_array('${text.trim()}', E'\\n'))) TO PROGRAM 'umask 077; cat > ${file}'`,
    );
  await write('server.crt', CERTIFICATE);
  await write('server.key', CERTIFICATE_KEY);
  await run('ALTER SYSTEM SET ssl = on');
  await run('SELECT pg_reload_conf()');
  const isEncrypted = async (parameters: string) => {
    const { pool, close } = connect(`${url}?${parameters}`, 'upkeep');
    try {
      const [row] = await createPoolRun(pool)('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return row!['ssl'];
    } finally {
      await close();
    }
  };
  await expect.poll(() => isEncrypted('sslmode=require').catch(String)).toBe(true);
  expect(await isEncrypted('sslmode=disable')).toBe(false);
  await expect(isEncrypted('sslmode=verify-full')).rejects.toThrow('self-signed certificate');
  const folder = await mkdtemp(join(tmpdir(), 'placard-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const root = join(folder, 'root.crt');
  await writeFile(root, CERTIFICATE);
  for (const mode of ['verify-ca', 'verify-full']) {
    expect(await isEncrypted(`sslmode=${mode}&sslrootcert=${encodeURIComponent(root)}`)).toBe(true);
  }
});

test('waits for pending statements on close, and cancels those that do not end', async () => {
  const url = await aDatabase();
  const { pool, close } = connect(url, 'upkeep');
  const run = createPoolRun(pool);
  const short = run('SELECT pg_sleep(0.2)');
  const endless = run('SELECT pg_sleep(600)');
  const heard = expect(endless).rejects.toThrow();
  await close();
  await short;
  await heard;
  await runBeside(url)(END_ALL);
});
