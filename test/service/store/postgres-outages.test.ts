import { describe, expect, onTestFinished, test } from 'vitest';
import { forgetEvents, openStore, openStoreReader } from '../../../src/service/store/index.ts';
import type { UserSet } from '../../../src/service/users/user-set.ts';
import { aDatabase, END_ALL, runBeside } from '../../helpers/postgres.ts';
import { tcpDoor } from '../../helpers/tcp-door.ts';
import { anEvent, byExternalId, collect } from './contract.ts';

const NOW = Date.UTC(2026, 2, 1);
const WRITERS = 16;
const USERS = 40;

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

test('a database that is silent keeps no store from closing, nor its process from ending', async () => {
  const door = await tcpDoor(await aDatabase());
  const store = await openStore(door.url);
  const write = (user: string) =>
    store.writeUsers({
      workspaceId: 'demo',
      lookups: [byExternalId(user)],
      nowMs: NOW,
      apply: (users: UserSet) => users.changed(users.create({ externalId: user }, NOW)),
    });
  await write('first');
  expect(door.count()).toBeGreaterThan(0);
  door.silence();
  const refused = Promise.allSettled(Array.from({ length: 300 }, (_, i) => write(`u-${i}`)));
  await store.close();
  expect(new Set((await refused).map(({ status }) => status))).toEqual(new Set(['rejected']));
  await expect.poll(door.count).toBe(0);
}, 60_000);

describe('while events are read for long', { timeout: 30_000 }, () => {
  const aReading = async () => {
    const url = await aDatabase();
    const store = await openStore(url);
    const write = (user: string) =>
      store.writeUsers({
        workspaceId: 'demo',
        lookups: [byExternalId(user)],
        nowMs: NOW,
        apply(users: UserSet) {
          const profile = users.create({ externalId: user }, NOW);
          users.changed(profile);
          users.record(profile, anEvent(profile, 'e', NOW));
        },
      });
    for (const user of ['u-1', 'u-2']) await write(user);
    const run = runBeside(url);
    const read = async () => {
      const reader = await openStoreReader(url);
      const reading = reader.exportEvents('demo')[Symbol.asyncIterator]();
      expect((await reading.next()).done).toBe(false);
      onTestFinished(async () => {
        await reading.return?.();
        await reader.close();
        await store.close();
      });
    };
    return { url, run, read, write };
  };
  const PARTITIONS =
    "SELECT relname AS name FROM pg_class WHERE relname ~ '^events_\\d' AND relkind = 'r' ORDER BY 1";

  test('a month that wants a partition waits, and neither writers nor other replicas do', async () => {
    const { url, run, read, write } = await aReading();
    const partitions = await run<{ name: string }>(PARTITIONS);
    await run(`DROP TABLE ${partitions.at(-1)!.name}`);
    await read();
    const other = await openStore(url);
    await other.close();
    await write('u-3');
    expect(await run(PARTITIONS)).toHaveLength(partitions.length - 1);
  });

  test('a partition is not dropped, and whoever wanted that is told why', async () => {
    const { url, run, read } = await aReading();
    const before = await run(PARTITIONS);
    await read();
    await expect(forgetEvents(url, Date.UTC(2500, 0, 1))).rejects.toThrow(/^events_\w+ is being read/);
    expect(await run(PARTITIONS)).toEqual(before);
  });
});
