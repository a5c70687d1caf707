import { Client } from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { collectLookups } from '../../../src/service/profiles/lookup.ts';
import type { UserRepository, UserRow } from '../../../src/service/profiles/user-repository.ts';
import { connect } from '../../../src/service/store/postgres/connect.ts';
import { READ_CHANGED_USERS, readUserPages } from '../../../src/service/store/postgres/read-users.ts';
import { createPoolRun } from '../../../src/service/store/postgres/statement.ts';
import { USERS_PAGE } from '../../../src/service/store/workspace-reads.ts';
import { aDatabase } from '../../helpers/postgres.ts';

const W = 'test';
const LOOKUP = { by: 'email', value: 'all@example.org' } as const;
const NOW = 1_000;

/** Store with users who share an address. */
const aStore = async (
  address: string,
  users: number,
  custom: Record<string, unknown> = {},
): Promise<Store> => {
  const store = await openStore(address);
  onTestFinished(() => store.close());
  await store.write({
    workspaceId: W,
    lookups: [],
    nowMs: NOW,
    apply(set) {
      for (let n = 0; n < users; n += 1) {
        set.create({ externalId: `u-${n}`, email: 'All@example.org', custom }, NOW);
      }
    },
  });
  return store;
};

/** Reads the users and counts the event-loop turns left to other work. */
const readAll = async (store: Store) => {
  let turns = 0;
  let isRead = false;
  const takeTurn = () => {
    if (isRead) return;
    turns += 1;
    setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const found = await store.readUsers(W, [LOOKUP]);
  isRead = true;
  return { turns, ids: new Set(found.map(({ externalId }) => externalId)), count: found.length };
};

test.each([
  ['SQLite', () => ':memory:'],
  ['PostgreSQL', aDatabase],
])('reads all users of a shared address once and yields to other requests, on %s', async (_, address) => {
  const users = 5 * USERS_PAGE + 1;
  const store = await aStore(await address(), users);
  const { turns, ids, count } = await readAll(store);
  expect([count, ids.size]).toEqual([users, users]);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('reads users with large profiles few at a time', async () => {
  const { turns, count } = await readAll(await aStore(':memory:', 6, { text: 'x'.repeat(500_000) }));
  expect(count).toBe(6);
  expect(turns).toBeGreaterThanOrEqual(6);
});

test('reads users from PostgreSQL by page, and after a conflict only the missing ones', async () => {
  const address = await aDatabase();
  await aStore(address, 2 * USERS_PAGE + 1);
  const { pool, close } = connect(address, 'groups', { connections: 1 });
  onTestFinished(close);
  const run = createPoolRun(pool);
  const sizes: number[] = [];
  const counted: typeof run = async (sql, values) => {
    const rows = await run(sql, values);
    if (sql.includes('FROM users') || sql.includes('JOIN users')) sizes.push(rows.length);
    return rows;
  };
  const named = collectLookups([{ workspaceId: W, lookups: [LOOKUP] }]);
  const found = new Map<number, UserRow>();
  const add = (page: UserRow[]) => {
    for (const user of page) found.set(user.userId, user);
  };
  const isFound = (userId: number) => found.has(userId);
  await readUserPages(counted, named, add, { isFound });
  expect(sizes).toEqual([USERS_PAGE, USERS_PAGE, 1]);
  found.delete([...found.keys()][0]!);
  await readUserPages(counted, named, add, { isFound });
  expect(sizes.slice(3)).toEqual([1]);
  expect(found.size).toBe(2 * USERS_PAGE + 1);
});

test('reads users from PostgreSQL in the order in which every group locks them', async () => {
  const address = await aDatabase();
  const store = await aStore(address, 5);
  const ids = (await store.readUsers(W, [LOOKUP])).map(({ userId }) => userId);
  const sorted = ids.sort((a, b) => a - b);
  const { pool, close } = connect(address, 'groups', { connections: 1 });
  onTestFinished(close);
  const lookups = sorted.map((id) => ({ by: 'braze_id' as const, value: String(id) })).reverse();
  const named = collectLookups([{ workspaceId: W, lookups }]);
  const read: number[] = [];
  const add = (page: UserRow[]) => read.push(...page.map(({ userId }) => userId));
  await readUserPages(createPoolRun(pool), named, add, { pageSize: 1 });
  expect(read).toEqual(sorted);
});

test('applies a group on PostgreSQL to the users of a shared address, read in pages', async () => {
  const address = await aDatabase();
  await aStore(address, 2_500);
  const query = vi.spyOn(Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  const store = await openStore(address);
  onTestFinished(() => store.close());
  const write = {
    workspaceId: W,
    lookups: [LOOKUP],
    nowMs: NOW,
    apply: (users: UserRepository) => users.find(LOOKUP).length,
  };
  expect(await store.write(write)).toBe(2_500);
  const pages = query.mock.calls.flatMap(([config]) => {
    const { text, values } = config as { text?: string; values?: unknown[] };
    return text === READ_CHANGED_USERS ? [(values![0] as number[]).length] : [];
  });
  expect(pages).toEqual([1_000, 1_000, 500]);
});
