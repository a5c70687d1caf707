import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UserSet } from '../../../src/service/profiles/user-set.ts';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { anEvent, byExternalId, collect } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);
/** More batches than it takes until a replica counts on what it remembers. */
const LONG_ALONE = 40;

let stores: [Store, Store];
beforeEach(async () => {
  const url = await aDatabase();
  stores = [await openStore(url), await openStore(url)];
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

const change = <T>(store: Store, ids: string[], apply: (users: UserSet) => T) =>
  store.writeUsers({ workspaceId: 'demo', lookups: ids.map(byExternalId), nowMs: NOW, apply });

const countIn = (users: UserSet, user: string): number => {
  const profile = users.find(byExternalId(user))[0] ?? users.create({ externalId: user }, NOW);
  profile.custom['n'] = Number(profile.custom['n'] ?? 0) + 1;
  users.changed(profile);
  users.record(profile, anEvent(profile, 'e'));
  return Number(profile.custom['n']);
};

const count = (store: Store, user: string) => change(store, [user], (users) => countIn(users, user));

const countAlone = async (store: Store, user: string) => {
  for (let i = 0; i < LONG_ALONE; i += 1) expect(await count(store, user)).toBe(i + 1);
};

test('a replica that was alone for long sees the first write of another', async () => {
  const [first, second] = stores;
  await countAlone(first, 'u-1');
  expect(await count(second, 'u-1')).toBe(LONG_ALONE + 1);
  expect(await count(first, 'u-1')).toBe(LONG_ALONE + 2);
  const events = await collect(first.exportEvents('demo'));
  expect(events).toHaveLength(LONG_ALONE + 2);
});

test('replicas that were alone and meet on the same users lose no write of either', async () => {
  await Promise.all(stores.map((store, i) => countAlone(store, `u-${i}`)));
  const counts = await Promise.all(
    Array.from({ length: 400 }, (_, i) => count(stores[i % 2]!, `u-${(i >> 1) % 2}`)),
  );
  const all = Array.from({ length: 200 }, (_, i) => LONG_ALONE + 1 + i);
  expect(counts.toSorted((a, b) => a - b)).toEqual(all.flatMap((n) => [n, n]));
  expect(await collect(stores[0].exportEvents('demo'))).toHaveLength(2 * (LONG_ALONE + 200));
});

test('one who was removed by another replica is nobody', async () => {
  const [first, second] = stores;
  await countAlone(first, 'u-1');
  await change(second, ['u-1'], (users) => users.remove(users.find(byExternalId('u-1'))[0]!));
  expect(await count(first, 'u-1')).toBe(1);
  expect(await collect(first.exportUsers('demo'))).toHaveLength(1);
});

test('one who got another external ID from another replica is found under that alone', async () => {
  const [first, second] = stores;
  await countAlone(first, 'u-1');
  await change(second, ['u-1'], (users) => {
    const profile = users.find(byExternalId('u-1'))[0]!;
    profile.externalId = 'u-9';
    users.changed(profile);
  });
  expect(await count(first, 'u-1')).toBe(1);
  expect(await count(first, 'u-9')).toBe(LONG_ALONE + 1);
});

test('a work that only looks at somebody sees what another replica has written last', async () => {
  const [first, second] = stores;
  await countAlone(first, 'seen');
  await countAlone(first, 'changed');
  await count(second, 'seen');
  const seen = await change(first, ['seen', 'changed'], (users) => {
    countIn(users, 'changed');
    return users.find(byExternalId('seen'))[0]!.custom['n'];
  });
  expect(seen).toBe(LONG_ALONE + 1);
  expect(await count(first, 'changed')).toBe(LONG_ALONE + 2);
});

test('a removal is refused where another replica has written the user since', async () => {
  const [first, second] = stores;
  await countAlone(first, 'gone');
  await count(second, 'gone');
  const last = await change(first, ['gone'], (users) => {
    const profile = users.find(byExternalId('gone'))[0]!;
    users.remove(profile);
    return profile.custom['n'];
  });
  expect(last).toBe(LONG_ALONE + 1);
  expect(await collect(second.exportUsers('demo'))).toEqual([]);
});

test('users who are remembered and users who are not share a work', async () => {
  const [first, second] = stores;
  await countAlone(first, 'known');
  await count(second, 'other');
  const counts = await change(first, ['known', 'other', 'new'], (users) =>
    ['known', 'other', 'new'].map((user) => countIn(users, user)),
  );
  expect(counts).toEqual([LONG_ALONE + 1, 2, 1]);
});

test.each([1, 2])(
  'works that fail leave nothing behind in what others build on, with %i replicas',
  async (replicas) => {
    await countAlone(stores[0], 'u-1');
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, i) =>
        change(stores[i % replicas]!, ['u-1'], (users) => {
          const profile = users.find(byExternalId('u-1'))[0]!;
          // One in fifty the database refuses, another one fails by itself.
          if (i % 50 === 20) users.record(profile, { ...anEvent(profile, 'e'), timeMs: Number.NaN });
          const n = countIn(users, 'u-1');
          if (i % 50 === 41) throw new Error('on purpose');
          return n;
        }),
      ),
    );
    const counts = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(counts.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 288 }, (_, i) => LONG_ALONE + 1 + i),
    );
    for (const store of stores) {
      expect(await collect(store.exportEvents('demo'))).toHaveLength(LONG_ALONE + 288);
    }
    expect(await count(stores[1], 'u-1')).toBe(LONG_ALONE + 289);
  },
);
