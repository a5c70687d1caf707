import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { createPipe } from '../../../src/service/store/postgres/pipe.ts';
import { readRows } from '../../../src/service/store/postgres/read-rows.ts';
import { runOn } from '../../../src/service/store/postgres/statement.ts';
import { inTransaction } from '../../../src/service/store/postgres/transaction.ts';
import type { UserSet } from '../../../src/service/users/user-set.ts';
import { aDatabase, runBeside } from '../../helpers/postgres.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../helpers/tls-certificate.ts';
import { anEvent, byExternalId, collect } from './contract.ts';

const NOW = Date.UTC(2026, 2, 1);
const WRITERS = 16;
const USERS = 40;

/** What a failover, a restart or an administrator does. */
const END_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

const aPool = async (
  purpose: 'requests' | 'batches' | 'upkeep' = 'batches',
  options?: { connections?: number; answerMs?: number },
) => {
  const url = await aDatabase();
  const { pool, close } = connect(url, purpose, { connections: 1, ...options });
  onTestFinished(close);
  return { pool, run: runOn(pool), beside: runBeside(url) };
};

const processOf = async (run: ReturnType<typeof runOn>) =>
  (await run<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]!.pid;

test('a database that ends every connection under load costs what was under way, and nothing else', async () => {
  const url = await aDatabase();
  const run = runBeside(url);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  let acknowledged = 0;
  let failed = 0;
  let isOver = false;
  const write = (user: string, n: number) =>
    store.writeUsers({
      workspaceId: 'demo',
      lookups: [byExternalId(user)],
      nowMs: NOW + n,
      apply(users: UserSet) {
        const profile = users.find(byExternalId(user))[0] ?? users.create({ externalId: user }, NOW);
        // What changes keys needs a transaction of several statements.
        if (n % 3 === 0) profile.email = `${user}-${n}@example.org`;
        users.changed(profile);
        users.record(profile, anEvent(profile, 'e', NOW + n));
      },
    });
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; !isOver; n += 1) {
      await write(`u-${(writer * 7 + n) % USERS}`, n).then(
        () => {
          acknowledged += 1;
        },
        () => {
          failed += 1;
        },
      );
    }
  });
  const goesOn = async () => {
    const before = acknowledged;
    await expect.poll(() => acknowledged, { timeout: 60_000 }).toBeGreaterThan(before + 200);
  };
  for (let round = 0; round < 5; round += 1) {
    await goesOn();
    await run(END_ALL);
  }
  await goesOn();
  isOver = true;
  await Promise.all(writers);
  expect(failed).toBeGreaterThan(0);
  const stored = (await collect(store.exportEvents('demo'))).length;
  expect(stored).toBeGreaterThanOrEqual(acknowledged);
  expect(stored).toBeLessThanOrEqual(acknowledged + failed);
  const users = await collect(store.exportUsers('demo'));
  expect(users.reduce((sum, { events }) => sum + (events['e']?.count ?? 0), 0)).toBe(stored);
}, 300_000);

test('a connection that ends while nobody uses it is replaced', async () => {
  const { pool, run, beside } = await aPool();
  const pipe = createPipe(pool);
  await run('SELECT 1');
  await beside(END_ALL);
  await expect.poll(() => pool.totalCount).toBe(0);
  expect(await run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await pipe.run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await beside(END_ALL);
  await expect.poll(() => pool.totalCount).toBe(0);
  expect(await pipe.run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await pipe.close();
});

test('a connection whose server says nothing more is given up', async () => {
  const { pool, run, beside } = await aPool('batches', { answerMs: 500 });
  const pipe = createPipe(pool);
  const first = await processOf(pipe.run);
  const waiting = [pipe.run('SELECT pg_sleep(600)'), pipe.run('SELECT 2 AS two')];
  for (const each of waiting) await expect(each).rejects.toThrow();
  expect(await processOf(pipe.run)).not.toBe(first);
  await pipe.close();
  await expect(run('SELECT pg_sleep(600)')).rejects.toThrow('timeout');
  expect(await run('SELECT 2 AS two')).toEqual([{ two: 2 }]);
  await beside(END_ALL);
});

test('a reader whose connection ends between two pages hears of it, and the next one reads all', async () => {
  const { pool, beside } = await aPool('upkeep');
  const numbers = () =>
    readRows<{ n: number }>(pool, 'SELECT n FROM generate_series(1, $1::int) AS n', ['1200']);
  const reading = numbers();
  expect((await reading.next()).value).toEqual({ n: 1 });
  await beside(END_ALL);
  await expect(collect(reading)).rejects.toThrow();
  expect((await collect(numbers())).map(({ n }) => n)).toEqual(
    Array.from({ length: 1_200 }, (_, i) => i + 1),
  );
});

test('whoever stops reading gives the connection back', async () => {
  const { pool, run } = await aPool('upkeep');
  for await (const row of readRows(pool, 'SELECT n FROM generate_series(1, $1::int) AS n', ['1200'])) {
    expect(row).toEqual({ n: 1 });
    break;
  }
  expect(await run('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a connection to what became a copy of the database is replaced by one to the database', async () => {
  const { pool, run } = await aPool();
  await run('CREATE TABLE written (n int)');
  // As a server does that was demoted and kept its connections.
  const demote = 'SET default_transaction_read_only = on';
  const insert = 'INSERT INTO written VALUES (1)';
  await run(demote);
  await expect(inTransaction(pool, async (send) => send(insert))).rejects.toThrow('read-only');
  await inTransaction(pool, async (send) => send(insert));
  const pipe = createPipe(pool);
  await pipe.run(demote);
  await expect(pipe.run(insert)).rejects.toThrow('read-only');
  await pipe.run(insert);
  await pipe.close();
  expect(await run('SELECT n FROM written')).toHaveLength(2);
});

test('a transaction whose statement is refused leaves nothing, and its connection is used again', async () => {
  const { pool, run } = await aPool();
  await run('CREATE TABLE written (n int PRIMARY KEY)');
  const first = await processOf(run);
  const sent = inTransaction(pool, async (send) => {
    void send('INSERT INTO written VALUES (1)');
    void send('INSERT INTO written VALUES (1)');
    void send('INSERT INTO written VALUES (2)');
  });
  await expect(sent).rejects.toThrow('duplicate key');
  const thrown = inTransaction(pool, async (send) => {
    await send('INSERT INTO written VALUES (3)');
    throw new Error('changed our mind');
  });
  await expect(thrown).rejects.toThrow('changed our mind');
  expect(await run('SELECT n FROM written')).toEqual([]);
  expect(await processOf(run)).toBe(first);
});

test('what a URL says of encryption means what it means to psql', async () => {
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
      const [row] = await runOn(pool)('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
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

test('closing waits for what is under way, and cuts off what does not end', async () => {
  const url = await aDatabase();
  const { pool, close } = connect(url, 'upkeep');
  const run = runOn(pool);
  const short = run('SELECT pg_sleep(0.2)');
  const endless = run('SELECT pg_sleep(600)');
  const heard = expect(endless).rejects.toThrow();
  await close();
  await short;
  await heard;
  await runBeside(url)(END_ALL);
}, 30_000);
