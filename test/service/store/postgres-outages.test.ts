import { describe, expect, onTestFinished, test } from 'vitest';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { openStore } from '../../../src/service/store/index.ts';
import type { Run } from '../../../src/service/store/postgres/statement.ts';
import { aDatabase, END_ALL, runBeside } from '../../helpers/postgres.ts';
import { tcpDoor } from '../../helpers/tcp-door.ts';
import { anEvent, byExternalId, collect } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);
const WRITERS = 16;
const USERS = 40;

test('rejects only pending requests if the database ends every connection under load', async () => {
  const url = await aDatabase();
  const run = runBeside(url);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  let acknowledged = 0;
  let failed = 0;
  let isOver = false;
  const write = (user: string, n: number) =>
    store.write({
      workspaceId: 'demo',
      lookups: [byExternalId(user)],
      nowMs: NOW + n,
      apply(users: UserRepository) {
        const profile = users.find(byExternalId(user))[0] ?? users.create({ externalId: user }, NOW);
        // Changing keys needs a transaction of several statements.
        if (n % 3 === 0) profile.email = `${user}-${n}@example.org`;
        users.changed(profile, NOW);
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
    await expect.poll(() => acknowledged).toBeGreaterThan(before + 200);
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
});

test('closes the store and ends the process if the database does not respond', async () => {
  const door = await tcpDoor(await aDatabase());
  const store = await openStore(door.url);
  const write = (user: string) =>
    store.write({
      workspaceId: 'demo',
      lookups: [byExternalId(user)],
      nowMs: NOW,
      apply: (users: UserRepository) => users.changed(users.create({ externalId: user }, NOW), NOW),
    });
  await write('first');
  expect(door.count()).toBeGreaterThan(0);
  door.silence();
  const refused = Promise.allSettled(Array.from({ length: 300 }, (_, i) => write(`u-${i}`)));
  await store.close();
  expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
  await expect.poll(door.count).toBe(0);
});

/** Database with a connection limit. */
const aSmallDatabase = async (room: number): Promise<{ url: string; run: Run }> => {
  const url = new URL(await aDatabase());
  const run = runBeside(url.href);
  const role = `small_${url.pathname.slice(1)}`;
  await run(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' CONNECTION LIMIT ${room}`);
  await run(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`);
  await run(`GRANT ALL ON SCHEMA public TO ${role}`);
  url.username = role;
  url.password = 'secret';
  return { url: url.href, run };
};

describe('a database with few connections', () => {
  test('accepts writes despite many readers', async () => {
    const { url, run } = await aSmallDatabase(8);
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const read = () => store.readUsers('demo', [byExternalId('u-1')]);
    const write = () =>
      store.write({
        workspaceId: 'demo',
        lookups: [],
        nowMs: NOW,
        apply: (users: UserRepository) => users.changed(users.create({}, NOW), NOW),
      });
    // As after a failover, with readers first.
    await run(END_ALL);
    await Promise.allSettled(Array.from({ length: 60 }, read));
    await expect.poll(() => store.ping().catch(String)).toBe(undefined);
    await write();
    await Promise.all([store.ping(), write(), write()]);
  });

  test('is rejected if a replica could not write', async () => {
    const { url } = await aSmallDatabase(0);
    await expect(openStore(url)).rejects.toThrow('too many connections');
    const { url: enough } = await aSmallDatabase(2);
    const store = await openStore(enough);
    await store.ping();
    await store.close();
  });
});

test('reports a database as ready only when it is no longer read-only by default', async () => {
  const url = await aDatabase();
  const run = runBeside(url);
  const store = await openStore(url);
  onTestFinished(() => store.close());
  await store.ping();
  const name = new URL(url).pathname.slice(1);
  await run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await run(END_ALL);
  const heard = () => store.ping().catch((error: { code?: string }) => error.code);
  await expect.poll(heard).toBe('25006');
  expect(await heard()).toBe('25006');
  const [write] = await Promise.allSettled([store.ensureWorkspace('another')]);
  expect(write).toMatchObject({ reason: { code: '25006' } });
  const reset = runBeside(url);
  await reset('SET default_transaction_read_only = off');
  await reset(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await expect.poll(heard).toBe(undefined);
});
