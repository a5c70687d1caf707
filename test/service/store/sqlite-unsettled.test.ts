// A request is stored as what it did, and the rows of its users follow later: nobody may ever see the difference.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openStore, openStoreReader, type Store } from '../../../src/service/store/index.ts';
import type { Profile } from '../../../src/service/users/profile.ts';
import type { UserSet } from '../../../src/service/users/user-set.ts';
import fc from '../../helpers/property.ts';
import { anEvent, byExternalId, collect } from './contract.ts';
import { openKept } from './kept.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-unsettled-'));
afterEach(() => void vi.useRealTimers());
afterAll(() => rmSync(folder, { recursive: true }));

const NOW = Date.UTC(2026, 2, 1);
const USERS = 8;

type Step =
  | { do: 'attribute'; user: number; value: number }
  | { do: 'event'; user: number; value: number }
  | { do: 'both'; user: number; value: number }
  | { do: 'purchase'; user: number; value: number }
  | { do: 'rename'; user: number; value: number }
  | { do: 'merge'; user: number; value: number }
  | { do: 'remove'; user: number; value: number }
  | { do: 'throw'; user: number; value: number }
  | { do: 'ask'; user: number }
  | { do: 'reopen' }
  | { do: 'compare' };

/** What a step does to a set of users: the store's, or the plain one that the test keeps. */
const perform = (users: UserSet, step: Extract<Step, { value: number }>): void => {
  const lookup = byExternalId(`u-${step.user}`);
  const profile = users.find(lookup)[0] ?? users.create({ externalId: `u-${step.user}` }, NOW);
  if (step.do === 'attribute' || step.do === 'both' || step.do === 'throw') {
    profile.custom['n'] = step.value;
    users.changed(profile);
  }
  if (step.do === 'event' || step.do === 'both') {
    users.record(profile, anEvent(profile, `e-${step.value % 3}`, NOW + step.value));
  }
  if (step.do === 'purchase') {
    const details = { price: step.value, quantity: 1 + (step.value % 4), currency: 'EUR' };
    users.record(profile, { ...anEvent(profile, 'sku'), kind: 'purchase', details });
  }
  if (step.do === 'rename') {
    profile.email = `${step.value}@example.org`;
    users.changed(profile);
  }
  if (step.do === 'merge') {
    const [other] = users.find(byExternalId(`u-${step.value % USERS}`));
    if (other && other !== profile) {
      profile.custom = { ...other.custom, ...profile.custom };
      profile.events = { ...other.events, ...profile.events };
      users.remove(other);
      users.replaced(profile);
    }
  }
  if (step.do === 'remove') users.remove(profile);
  if (step.do === 'throw') throw new Error('apply failed');
};

/** Users as plainly as can be: a list. */
const plainUsers = () => {
  let profiles: Profile[] = [];
  let serial = 0;
  const users: UserSet = {
    find: (lookup) =>
      profiles.filter(({ externalId }) => lookup.by === 'external_id' && externalId === lookup.value),
    create: (fields, nowMs) => {
      serial += 1;
      const profile: Profile = {
        brazeId: `${serial}`,
        externalId: null,
        aliases: [],
        email: null,
        phone: null,
        standard: {},
        custom: {},
        subscriptionGroups: {},
        pushTokens: [],
        events: {},
        purchases: {},
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        ...fields,
      };
      profiles.push(profile);
      return profile;
    },
    changed: () => undefined,
    replaced: () => undefined,
    remove: (profile) => {
      profiles = profiles.filter((other) => other !== profile);
    },
    record: (profile, event) => {
      const isEvent = event.kind === 'event';
      const tallies: Record<string, { first: number; last: number; count: number; revenue?: number }> =
        isEvent ? profile.events : profile.purchases;
      const { price = 0, quantity = 1 } = event.details as { price?: number; quantity?: number };
      const before = tallies[event.name] ?? {
        first: event.timeMs,
        last: event.timeMs,
        count: 0,
        ...(isEvent ? {} : { revenue: 0 }),
      };
      tallies[event.name] = {
        first: Math.min(before.first, event.timeMs),
        last: Math.max(before.last, event.timeMs),
        count: before.count + quantity,
        ...(isEvent ? {} : { revenue: before.revenue! + price * quantity }),
      };
    },
    addDataPoints: () => undefined,
  };
  return { users, all: () => profiles };
};

const seen = (profiles: Profile[]) =>
  profiles
    .map(({ externalId, email, custom, events, purchases }) => ({
      externalId,
      email,
      custom,
      events,
      purchases,
    }))
    .toSorted((a, b) => (a.externalId! < b.externalId! ? -1 : 1));

const compare = async (store: Store, file: string, profiles: Profile[]) => {
  expect(seen(await collect(store.exportUsers('demo')))).toEqual(seen(profiles));
  const lookups = profiles.map(({ externalId }) => byExternalId(externalId!));
  expect(seen(await store.readUsers('demo', lookups))).toEqual(seen(profiles));
  for (let each = 0; each < USERS; each += 1) {
    const { profile } = await store.bannerUser('demo', `u-${each}`);
    expect(seen(profile ? [profile] : [])).toEqual(
      seen(profiles.filter(({ externalId }) => externalId === `u-${each}`)),
    );
  }
  // Another process, for all that the file knows.
  const reader = await openStoreReader(file);
  expect(seen(await collect(reader.exportUsers('demo')))).toEqual(seen(profiles));
  expect(seen(await reader.readUsers('demo', lookups))).toEqual(seen(profiles));
  await reader.close();
};

const user = fc.integer({ min: 0, max: USERS - 1 });
const value = fc.integer({ min: 0, max: 1_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  ...(['attribute', 'event', 'both', 'purchase'] as const).map((action) => ({
    weight: 4,
    arbitrary: fc.record({ do: fc.constant(action), user, value }) as fc.Arbitrary<Step>,
  })),
  ...(['rename', 'merge', 'remove', 'throw'] as const).map((action) => ({
    weight: 1,
    arbitrary: fc.record({ do: fc.constant(action), user, value }) as fc.Arbitrary<Step>,
  })),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask'), user }) as fc.Arbitrary<Step> },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'compare' }) },
);

test('whatever was done, in whatever order, every reader sees the users as they are', async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      files += 1;
      const file = join(folder, `${files}.db`);
      let store = await openStore(file);
      const plain = plainUsers();
      let writes: Promise<unknown>[] = [];
      for (const [index, next] of [...steps, { do: 'compare' } as const].entries()) {
        if (next.do === 'reopen') {
          await Promise.all(writes);
          await store.close();
          store = await openStore(file);
        } else if (next.do === 'compare') {
          await Promise.all(writes);
          writes = [];
          await compare(store, file, plain.all());
        } else if (next.do === 'ask') {
          // In the midst of the writes: whatever memory keeps of it, a later question must not hear it again.
          writes.push(store.bannerUser('demo', `u-${next.user}`));
        } else {
          const write = store.writeUsers({
            workspaceId: 'demo',
            lookups: [],
            nowMs: NOW + index,
            apply: (users) => perform(users, next),
          });
          if (next.do === 'throw') await expect(write).rejects.toThrow('apply failed');
          else {
            perform(plain.users, next);
            writes.push(write);
          }
        }
      }
      await store.close();
    }),
    { numRuns: 20 },
  );
}, 120_000);

test('rows follow when requests rest, and the journal is empty then', async () => {
  const file = join(folder, 'rest.db');
  // The rest begins when the test says so, however slow the disk is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const store = await openStore(file);
  const write = (apply: (users: UserSet) => void) =>
    store.writeUsers({ workspaceId: 'demo', lookups: [], nowMs: NOW, apply });
  await write((users) => {
    users.create({ externalId: 'u-1' }, NOW);
  });
  await write((users) => perform(users, { do: 'both', user: 1, value: 7 }));
  const database = new DatabaseSync(file, { readOnly: true });
  const row = () => database.prepare('SELECT profile FROM users').get()?.['profile'] as string;
  expect(row()).not.toContain('"n":7');
  vi.runAllTimers();
  vi.useRealTimers();
  await expect.poll(row, { timeout: 10_000 }).toContain('"n":7');
  await expect.poll(() => database.prepare('SELECT * FROM journal').all()).toEqual([]);
  database.close();
  await store.close();
});

test('users who come again and again are written once in a while, and nothing of them is lost', async () => {
  const file = join(folder, 'busy.db');
  let store = await openStore(file);
  const count = 5_000;
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      store.writeUsers({
        workspaceId: 'demo',
        lookups: [],
        nowMs: NOW + i,
        apply: (users) => perform(users, { do: 'both', user: i % 50, value: i }),
      }),
    ),
  );
  const total = async () => {
    const users = await collect(store.exportUsers('demo'));
    return users.flatMap(({ events }) => Object.values(events)).reduce((sum, tally) => sum + tally.count, 0);
  };
  expect(await total()).toBe(count);
  await store.close();
  store = await openStore(file);
  expect(await total()).toBe(count);
  const [last] = await store.readUsers('demo', [byExternalId(`u-${(count - 1) % 50}`)]);
  expect(last?.custom['n']).toBe(count - 1);
  await store.close();
});

/** On a disk that refuses a commit when told so, as a full one does. */
const onFailingDisk = () => {
  let isFull = false;
  const { users } = openKept({
    wrapCommitter: (committer) => ({
      ...committer,
      commit: async (group) => {
        if (isFull) throw new Error('disk full');
        await committer.commit(group);
      },
    }),
  });
  return {
    users,
    fill(full: boolean) {
      isFull = full;
    },
  };
};

test('a commit that failed takes nothing with it of what was stored before, whatever is stored next', async () => {
  const stepOrCommit = fc.record({ step, isFull: fc.boolean(), isFollowed: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(stepOrCommit, { minLength: 5, maxLength: 60 }), async (steps) => {
      const { users, fill } = onFailingDisk();
      const plain = plainUsers();
      for (const [index, { step: next, isFull, isFollowed }] of steps.entries()) {
        if (!('value' in next)) continue;
        fill(isFull);
        const nowMs = NOW + index;
        const write = users.write({
          workspaceId: 'demo',
          lookups: [],
          nowMs,
          apply: (set) => perform(set, next),
        });
        if (next.do === 'throw') await expect(write).rejects.toThrow('apply failed');
        else if (isFull) await expect(write).rejects.toThrow('disk full');
        else {
          await write;
          perform(plain.users, next);
        }
        fill(false);
        // As banner events and the health check do: they ask for a commit, and for no user.
        if (isFollowed) await users.queue.durable();
      }
      const lookups = plain.all().map(({ externalId }) => byExternalId(externalId!));
      expect(seen(await users.read('demo', lookups))).toEqual(seen(plain.all()));
      await users.close();
    }),
    { numRuns: 100 },
  );
}, 60_000);
