import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { FIND_IDENTIFIERS, LOCK_USERS } from '../../../src/service/store/postgres/read-users.ts';
import { createPoolRun } from '../../../src/service/store/postgres/statement.ts';
import { POSTGRES_STATEMENTS } from '../../../src/service/store/statements.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { aDatabase, END_ALL, lockBeside, runBeside, waitsFor } from '../../helpers/postgres.ts';
import { anEvent, byExternalId, collect } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);

let url: string;
let stores: [Store, Store];
beforeEach(async () => {
  url = await aDatabase();
  stores = [await openStore(url), await openStore(url)];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(stores.map((store) => store.close()));
});

const count = (store: Store, user: string) =>
  store.write({
    workspaceId: 'demo',
    lookups: [byExternalId(user)],
    nowMs: NOW,
    apply: (users: UserRepository) => {
      const profile = users.find(byExternalId(user))[0] ?? users.create({ externalId: user }, NOW);
      profile.custom['n'] = Number(profile.custom['n'] ?? 0) + 1;
      users.changed(profile, NOW);
      users.record(profile, anEvent(profile, 'e'));
      return Number(profile.custom['n']);
    },
  });

test('shows the writes of a replica to other replicas', async () => {
  for (let i = 0; i < 20; i += 1) expect(await count(stores[i % 2]!, 'u-1')).toBe(i + 1);
});

test('keeps all writes of replicas that write the same users at once', async () => {
  const users = ['a', 'b', 'c', 'd', 'e'];
  const counts = await Promise.all(
    Array.from({ length: 400 }, (_, i) => count(stores[i % 2]!, users[i % users.length]!)),
  );
  expect(counts.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 80 }, (_, i) => users.map(() => i + 1)).flat(),
  );
  const profiles = await collect(stores[0].exportUsers('demo'));
  expect(profiles.map(({ custom, events }) => [custom['n'], events['e']?.count])).toEqual(
    users.map(() => [80, 80]),
  );
});

test.each<Lookup>([
  { by: 'email', value: 'kim@example.org' },
  { by: 'push_token', value: { app_id: 'app', token: 'one' } },
])('creates one user if replicas look up an unknown user by $by', async (lookup) => {
  const create = (store: Store, n: number) =>
    store.write({
      workspaceId: 'demo',
      lookups: [lookup],
      nowMs: NOW + n,
      apply(users: UserRepository) {
        if (users.find(lookup).length > 0) return;
        if (lookup.by === 'email') users.create({ email: lookup.value }, NOW);
        else users.create({ pushTokens: [{ app_id: 'app', token: 'one', device_id: 'device' }] }, NOW);
      },
    });
  await Promise.all(Array.from({ length: 40 }, (_, n) => create(stores[n % 2]!, n)));
  expect(await collect(stores[0].exportUsers('demo'))).toHaveLength(1);
});

/** Counts all of these users in one mutation. */
const countAll = (store: Store, users: string[]) =>
  store.write({
    workspaceId: 'demo',
    lookups: users.map(byExternalId),
    nowMs: NOW,
    apply: (set) => {
      for (const id of users) {
        const profile = set.find(byExternalId(id))[0] ?? set.create({ externalId: id }, NOW);
        profile.custom['n'] = Number(profile.custom['n'] ?? 0) + 1;
        set.changed(profile, NOW);
      }
    },
  });

test('completes writes that lock the same users in different orders', async () => {
  await Promise.all(
    Array.from({ length: 100 }, (_, i) => countAll(stores[i % 2]!, i % 3 === 0 ? ['x', 'y'] : ['y', 'x'])),
  );
  const profiles = await stores[1].readUsers('demo', [byExternalId('x'), byExternalId('y')]);
  expect(profiles.map(({ custom }) => custom['n'])).toEqual([100, 100]);
});

describe('many requests for the same new users', () => {
  const users = Array.from({ length: 1_200 }, (_, i) => `u-${1_000 + i}`);
  const works = Array.from({ length: 16 }, (_, i) => users.slice(i * 75, (i + 1) * 75));
  const counts = async () => (await collect(stores[0].exportUsers('demo'))).map(({ custom }) => custom['n']);

  test('are stored by two replicas at once', async () => {
    await Promise.all(
      [...works, ...works.toReversed()].flatMap((ids) => stores.map((on) => countAll(on, ids))),
    );
    expect(await counts()).toEqual(users.map(() => 4));
  });

  test('are stored even if another replica creates one of the users first', async () => {
    const [slow, fast] = stores;
    let isOver = false;
    const madeSingly: string[] = [];
    const makeSingly = async () => {
      // In reverse order of the keys in a group.
      for (const user of users.toReversed()) {
        if (isOver) return;
        await count(fast, user);
        madeSingly.push(user);
      }
    };
    const making = makeSingly();
    const fates = await Promise.allSettled(works.map((ids) => countAll(slow, ids)));
    isOver = true;
    await making;
    expect(new Set(fates.map(({ status }) => status))).toEqual(new Set(['fulfilled']));
    const twice = (await counts()).filter((n) => n === 2);
    expect(await counts()).toHaveLength(users.length);
    expect(twice).toHaveLength(madeSingly.length);
  });
});

test('does not affect other writes if the database rejects one', async () => {
  const [store] = stores;
  const refused = store.write({
    workspaceId: 'demo',
    lookups: [],
    nowMs: NOW,
    apply: (users) => {
      const profile = users.create({ externalId: 'bad' }, NOW);
      users.record(profile, { ...anEvent(profile, 'e'), timeMs: Number.NaN });
    },
  });
  const [bad, ...good] = await Promise.allSettled([
    refused,
    ...Array.from({ length: 20 }, (_, i) => count(store, `good-${i}`)),
  ]);
  expect(bad?.status).toBe('rejected');
  expect(good.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  expect(await collect(store.exportUsers('demo'))).toHaveLength(20);
  expect(await collect(store.exportEvents('demo'))).toHaveLength(20);
});

test('rejects a write if its users cannot be determined, and stores later writes', async () => {
  const [store] = stores;
  const nobody = { by: 'external_id', value: undefined as unknown as string } as const;
  const work = { workspaceId: 'demo', lookups: [nobody], nowMs: NOW, apply: () => undefined };
  await expect(store.write(work)).rejects.toThrow();
  expect(await count(store, 'u-1')).toBe(1);
});

test('shares a limit between replicas, and accepts at most the limit and hardly fewer', async () => {
  const at = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const window = { key: 'track', rule: { requests: 1_000, windowSeconds: 3_600 } };
  const states = await Promise.all(
    Array.from({ length: 1_600 }, (_, i) => stores[i % 2]!.consumeRateLimit([window], at)),
  );
  const allowed = states.filter((state) => state.allowed).length;
  expect(allowed).toBeLessThanOrEqual(1_000);
  // Each replica may hold one unused lease, a hundredth of the limit.
  expect(allowed).toBeGreaterThanOrEqual(980);
  for (const store of stores) expect((await store.consumeRateLimit([window], at)).allowed).toBe(false);
});

test('reads users of concurrent decisions together', async () => {
  const query = vi.spyOn(Client.prototype, 'query');
  const users = Array.from({ length: 64 }, (_, at) => `u-${at}`);
  await Promise.all(users.map((user) => stores[0].loadTargetingData('demo', user)));
  const reads = query.mock.calls.filter(
    ([config]) => (config as { text?: string }).text === FIND_IDENTIFIERS,
  );
  // One read covers 32 users.
  expect(reads).toHaveLength(2);
});

test('rejects only the requests that share a failed read', async () => {
  const query = vi.spyOn(Client.prototype, 'query');
  query.mockImplementationOnce(() => Promise.reject(new Error('no answer')));
  const users = Array.from({ length: 40 }, (_, at) => `u-${at}`);
  const answers = await Promise.allSettled(users.map((user) => stores[0].loadTargetingData('demo', user)));
  const failed = answers.flatMap(({ status }, at) => (status === 'rejected' ? at : []));
  // The first 32 users are read together and the others concurrently, in either order.
  const [first, others] = [users.slice(0, 32).map((_, at) => at), users.slice(32).map((_, at) => at + 32)];
  expect([first, others]).toContainEqual(failed);
});

test('does not reject other users of a read if one does not match its keys', async () => {
  await count(stores[0], 'u-0');
  await count(stores[0], 'u-1');
  await runBeside(url)("DELETE FROM users WHERE external_id = 'u-1'");
  const users = ['a', 'b', 'u-0', 'u-1', 'c'];
  const answers = await Promise.allSettled(users.map((user) => stores[1].loadTargetingData('demo', user)));
  const expected = users.map((user) => (user === 'u-1' ? 'rejected' : 'fulfilled'));
  expect(answers.map(({ status }) => status)).toEqual(expected);
  expect(answers[2]).toMatchObject({ value: { profile: { externalId: 'u-0' } } });
});

test('deletes expired windows by the clock that opened them', async () => {
  // Each lease triggers a sweep.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const run = runBeside(url);
  const take = (key: string, atMs: number) =>
    stores[0].consumeRateLimit([{ key, rule: { requests: 1, windowSeconds: 60 } }], atMs);
  const starts = async () => {
    const rows = await run(
      'SELECT extract(epoch FROM start_at) * 1000 AS start_ms FROM rate_windows ORDER BY key',
    );
    return rows.map((row) => Number(row['start_ms']));
  };
  // Months ago by this machine's clock.
  await take('a', NOW);
  await take('b', NOW);
  expect(await starts()).toEqual([NOW, NOW]);
  await take('c', NOW + 180_000);
  expect(await starts()).toEqual([NOW + 180_000]);
});

test('finds users by their keys, even if the plan was made for small tables', async () => {
  const { pool, close } = connect(url, 'groups', { connections: 1 });
  onTestFinished(close);
  const getPlan = async (statement: string, values: (string | string[] | number[])[]) => {
    const plan = await createPoolRun(pool)(`EXPLAIN ${statement}`, values);
    return plan.map((row) => row['QUERY PLAN']).join('\n');
  };
  const keys = await getPlan(FIND_IDENTIFIERS, [['demo'], ['external_id:a', 'external_id:b']]);
  expect(keys).toMatch(/user_identifiers_(pkey|single)/);
  const lock = await getPlan(LOCK_USERS, [
    [1, 2],
    [-1, -1],
    [0, 0],
  ]);
  const { sql, values } = POSTGRES_STATEMENTS.updateUsers(
    [1, 2].map((userId) => ({
      userId,
      workspaceId: 'demo',
      externalId: 'kim',
      profile: null,
      version: 1,
      createdAtMs: 0,
      updatedAtMs: 0,
    })),
  );
  const update = await getPlan(sql, values as string[]);
  for (const plan of [lock, update]) expect(plan).toContain('users_pkey');
  for (const plan of [keys, lock, update]) expect(plan).not.toMatch(/Seq Scan|Hash Join/);
});

const KIM = { by: 'email', value: 'kim@example.org' } as const;
const OLD = { by: 'email', value: 'old@example.org' } as const;
const rename = (users: UserRepository, identifiers: { externalId?: string; email?: string }) => {
  const profile = users.find(byExternalId('u-1'))[0]!;
  users.changed(Object.assign(profile, identifiers), NOW);
};

const change = <T>(store: Store, ids: string[], apply: (users: UserRepository) => T) =>
  store.write({ workspaceId: 'demo', lookups: ids.map(byExternalId), nowMs: NOW, apply });

test('does not find a user whom another replica removed', async () => {
  const [first, second] = stores;
  await count(first, 'u-1');
  await change(second, ['u-1'], (users) => users.erase(users.find(byExternalId('u-1'))[0]!));
  expect(await count(first, 'u-1')).toBe(1);
  expect(await collect(first.exportUsers('demo'))).toHaveLength(1);
});

test('finds a user only by the new external ID after another replica changed it', async () => {
  const [first, second] = stores;
  await count(first, 'u-1');
  await change(second, ['u-1'], (users) => {
    const profile = users.find(byExternalId('u-1'))[0]!;
    profile.externalId = 'u-9';
    users.changed(profile, NOW);
  });
  expect(await count(first, 'u-1')).toBe(1);
  expect(await count(first, 'u-9')).toBe(2);
});

test.each<[string, Lookup, (users: UserRepository) => void, number]>([
  ['erased', byExternalId('u-1'), (users) => users.erase(users.find(byExternalId('u-1'))[0]!), 0],
  ['renamed', byExternalId('u-1'), (users) => rename(users, { externalId: 'u-9' }), 0],
  ['given this ID', byExternalId('u-9'), (users) => rename(users, { externalId: 'u-9' }), 1],
  ['given this address', KIM, (users) => rename(users, { email: 'kim@example.org' }), 1],
  ['given another address', OLD, (users) => rename(users, { email: 'kim@example.org' }), 0],
])('does not decide by a cached user whom another replica has %s', async (_, lookup, apply, expected) => {
  const [first, second] = stores;
  await change(first, [], (users) => void users.create({ externalId: 'u-1', email: OLD.value }, NOW));
  await change(second, ['u-1'], apply);
  const write = { workspaceId: 'demo', lookups: [lookup], nowMs: NOW };
  // Neither write changes a user.
  for (let round = 0; round < 2; round += 1)
    expect(await first.write({ ...write, apply: (users) => users.find(lookup).length })).toBe(expected);
});

test('applies a group while the previous one is being written', async () => {
  const [store] = stores;
  await count(store, 'u-1');
  const { release } = await lockBeside(url, 'LOCK TABLE events IN EXCLUSIVE MODE');
  const first = count(store, 'u-1');
  await expect.poll(() => runBeside(url)(waitsFor())).toHaveLength(1);
  const applied = Promise.withResolvers<void>();
  const second = change(store, ['u-1'], (users) => {
    applied.resolve();
    const profile = users.find(byExternalId('u-1'))[0]!;
    users.changed(profile, NOW);
    return profile.custom['n'];
  });
  await applied.promise;
  await release();
  expect(await Promise.all([first, second])).toEqual([2, 2]);
});

test('reads users again on a new connection, which may be to a restored database', async () => {
  const [store] = stores;
  await count(store, 'u-1');
  const beside = runBeside(url);
  // As after a restore, the version is the same.
  await beside(`UPDATE users SET profile = replace(profile::text, '"n":1', '"n":41')::json`);
  await beside(END_ALL);
  await expect.poll(() => count(store, 'u-1').catch(() => null)).toBe(42);
});

test.each([1, 2])(
  'does not leave state of failed writes for later writes, with %i replicas',
  async (replicas) => {
    await count(stores[0], 'u-1');
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, i) =>
        change(stores[i % replicas]!, ['u-1'], (users) => {
          const profile = users.find(byExternalId('u-1'))[0]!;
          // In every fifty, the database rejects one and another one throws.
          if (i % 50 === 20) users.record(profile, { ...anEvent(profile, 'e'), timeMs: Number.NaN });
          const n = Number(profile.custom['n']) + 1;
          profile.custom['n'] = n;
          users.changed(profile, NOW);
          users.record(profile, anEvent(profile, 'e'));
          if (i % 50 === 41) throw new Error('on purpose');
          return n;
        }),
      ),
    );
    const counts = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 288 }, (_, i) => i + 2));
    for (const store of stores) expect(await collect(store.exportEvents('demo'))).toHaveLength(289);
    expect(await count(stores[1], 'u-1')).toBe(290);
  },
);

test('assigns banner events of a user whom another replica merges to the merge target', async () => {
  const [first, second] = stores;
  for (let round = 0; round < 10; round += 1) {
    const [gone, kept] = [`gone-${round}`, `kept-${round}`];
    await Promise.all([count(first, gone), count(second, kept)]);
    const record = (timeMs: number) =>
      recordBannerEvents(second, gone, [aBannerEvent({ bannerId: `b-${round}`, timeMs })]);
    await Promise.all([
      ...[1, 2, 3].map(record),
      change(first, [gone, kept], (users) =>
        users.merge(users.find(byExternalId(kept))[0]!, users.find(byExternalId(gone))[0]!, NOW),
      ),
    ]);
  }
  // Events stored after the merge belong to a user without a profile.
  const rows = await collect(first.exportBannerEvents('demo'));
  expect(rows).toHaveLength(30);
  expect(new Set(rows.map(({ externalId }) => externalId.split('-')[0]))).toContain('kept');
});
