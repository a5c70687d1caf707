import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { patience } from '../../helpers/patience.ts';
import { aDatabase, lockBeside, runBeside, waitsFor } from '../../helpers/postgres.ts';
import { byExternalId, collect } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);

let url: string;
let store: Store;
beforeEach(async () => {
  url = await aDatabase();
  store = await openStore(url);
  onTestFinished(() => store.close());
});

const count = (...users: string[]) => countOn(store, ...users);
const countOn = (on: Store, ...users: string[]) =>
  on.write({
    workspaceId: 'demo',
    lookups: users.map(byExternalId),
    nowMs: NOW,
    apply: (set: UserRepository) => {
      for (const user of users) {
        const profile = set.find(byExternalId(user))[0] ?? set.create({ externalId: user }, NOW);
        profile.custom['n'] = Number(profile.custom['n'] ?? 0) + 1;
        set.changed(profile, NOW);
      }
    },
  });

const counts = async () =>
  Object.fromEntries(
    (await collect(store.exportUsers('demo'))).map(({ externalId, custom }) => [externalId, custom['n']]),
  );

const LOCK_ROW = `SELECT 1 FROM user_identifiers JOIN users USING (user_id)
  WHERE identifier LIKE '%locked' FOR UPDATE OF users`;

const fates = async (works: Promise<void>[]) =>
  (await Promise.allSettled(works)).map((work) =>
    work.status === 'fulfilled' ? 'stored' : (work.reason as Error).name,
  );

const OTHERS = Array.from({ length: 10 }, (_, i) => `u-${i}`);

describe('a row that another session has locked', () => {
  test('delays other users only briefly, and rejects the writes that need it', async () => {
    await count('locked', ...OTHERS);
    const { release } = await lockBeside(url, LOCK_ROW);
    const all = [...OTHERS.map((user) => count(user)), count('locked'), count('u-0', 'locked')];
    expect(await fates(all)).toEqual([...OTHERS.map(() => 'stored'), 'TransientError', 'TransientError']);
    // Each group with that user waits for one second at most.
    const started = performance.now();
    for (let round = 0; round < 3; round += 1) {
      expect(await fates([count('u-1'), count('locked')])).toEqual(['stored', 'TransientError']);
    }
    // The lock timeout is four seconds if the group has no other users.
    expect(performance.now() - started).toBeLessThan(10_000);
    await release();
    expect(await fates([count('locked'), count('u-1')])).toEqual(['stored', 'stored']);
    expect(await counts()).toMatchObject({ locked: 2, 'u-0': 2, 'u-1': 6 });
  });
});

test('accepts writes of other users on two replicas while a row is locked', async () => {
  await count('locked', ...OTHERS);
  const other = await openStore(url);
  onTestFinished(() => other.close());
  const { release } = await lockBeside(url, LOCK_ROW);
  expect(await fates([count('locked')])).toEqual(['TransientError']);
  // Writes the same users on both stores, as fast as possible.
  const rounds = async (on: Store) => {
    const all: string[] = [];
    for (let round = 0; round < 30; round += 1) all.push(...(await fates([countOn(on, ...OTHERS)])));
    return all;
  };
  const all = await Promise.all([rounds(store), rounds(other)]);
  expect(new Set(all.flat())).toEqual(new Set(['stored']));
  await release();
  expect(await counts()).toMatchObject({ locked: 1, 'u-0': 61, 'u-9': 61 });
});

test('does not block the same ID of another workspace by a locked row', async () => {
  const write = (lookup: Lookup, workspaceId = 'demo') =>
    store.write({
      workspaceId,
      lookups: [lookup, byExternalId('u-1')],
      nowMs: NOW,
      apply: (users) => users.find(lookup).length,
    });
  await count('locked');
  const [locked] = await store.readUsers('demo', [byExternalId('locked')]);
  const ofLocked: Lookup = { by: 'braze_id', value: String(locked?.userId) };
  const { release } = await lockBeside(url, LOCK_ROW);
  expect(await fates([count('locked')])).toEqual(['TransientError']);
  expect(await write({ by: 'braze_id', value: '12345' })).toBe(0);
  expect(await write(ofLocked, 'other')).toBe(0);
  await expect(write(ofLocked)).rejects.toThrow('A user is locked');
  await release();
  expect(await write(ofLocked)).toBe(1);
});

test('accepts writes while a batch of results waits for another replica', async () => {
  await count('u-1');
  const beside = runBeside(url);
  const { release } = await lockBeside(url, 'LOCK TABLE feed_cursors IN EXCLUSIVE MODE');
  const progress = store.catchUpResults();
  const findWaiting = () => beside(waitsFor().replace('SELECT 1', 'SELECT pid, query_start::text'));
  await expect.poll(findWaiting).toHaveLength(1);
  const waiting = await findWaiting();
  await count('u-1');
  await store.ping();
  // The batch has not given up in the meantime.
  expect(await findWaiting()).toEqual(waiting);
  await release();
  expect((await progress).isCaughtUp).toBe(true);
});

test('rejects writes that wait for a table lock, and does not store them later', async () => {
  await count('u-1');
  const { release } = await lockBeside(url, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
  const all = fates(Array.from({ length: 500 }, () => count('u-1')));
  const isReady = () => store.ping().then(() => true, String);
  // Once the first writes have waited ten seconds behind others.
  await expect.poll(isReady, { timeout: patience(20_000) }).toContain('Writes are being rejected');
  expect(new Set(await all)).toEqual(new Set(['TransientError']));
  await release();
  await count('u-1');
  expect(await counts()).toEqual({ 'u-1': 2 });
  await expect.poll(() => store.ping().catch(String), { timeout: patience(10_000) }).toBe(undefined);
});
