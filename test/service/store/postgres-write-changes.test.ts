import { expect, test } from 'vitest';
import {
  type ChangeSet,
  emptyChangeSet,
  type WrittenUser,
} from '../../../src/service/profiles/user-repository.ts';
import type { SqlRow } from '../../../src/service/sql/row-readers.ts';
import { toGroupWrites } from '../../../src/service/store/commit-group.ts';
import { sendWrites } from '../../../src/service/store/postgres/groups.ts';
import type { Run } from '../../../src/service/store/postgres/statement.ts';
import { POSTGRES_STATEMENTS } from '../../../src/service/store/statements.ts';
import { ConflictError } from '../../../src/service/store/write-errors.ts';
import { aBannerEvent } from '../../helpers/banner-events.ts';

const user: WrittenUser = {
  userId: 1,
  workspaceId: 'demo',
  externalId: 'kim',
  profile: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  version: 1,
};

const writeChanges = (run: Run, changes: ChangeSet) =>
  sendWrites(run, toGroupWrites(POSTGRES_STATEMENTS, changes), () => undefined);
/** Statement names by SQL text. */
const NAMES = new Map(
  Object.entries(POSTGRES_STATEMENTS).flatMap(([name, of]) =>
    typeof of === 'function'
      ? [of([] as never, [] as never)].flat().map(({ sql }) => [sql, name] as const)
      : [],
  ),
);

/** Elements of an array in the binary format. */
const readElements = (array: unknown): Buffer[] => {
  const [buffer, elements] = [array as Buffer, [] as Buffer[]];
  for (let at = 20; at < buffer.length; at += 4 + buffer.readInt32BE(at))
    elements.push(buffer.subarray(at + 4, at + 4 + buffer.readInt32BE(at)));
  return elements;
};

test('does not send statements of a group after a conflict with another replica', async () => {
  const sent: string[] = [];
  const found = Promise.withResolvers<SqlRow[]>();
  // The other replica created the user, so no row is returned. The response about duplicates arrives later.
  const run = (async (statement: string) => {
    const name = NAMES.get(statement)!;
    sent.push(name);
    return name === 'storedBannerEvents' ? found.promise : [];
  }) as Run;
  const changes = {
    ...emptyChangeSet(),
    created: [user],
    bannerEvents: [{ workspaceId: 'demo', userId: 1, event: aBannerEvent() }],
  };
  let hasFailed = false;
  const written = writeChanges(run, changes).catch((error) => {
    hasFailed = true;
    return error;
  });
  await new Promise(setImmediate);
  expect(hasFailed).toBe(false);

  found.resolve([]);
  expect(await written).toBeInstanceOf(ConflictError);
  expect(sent).toEqual(['insertUsers', 'findUserCampaignsByCampaign', 'storedBannerEvents']);
});

test('writes users in the order of their IDs, so that replicas lock them in the same order', async () => {
  const ids = new Map<string, number[]>();
  const run: Run = async (statement, [list] = []) => {
    const name = NAMES.get(statement);
    if (name === undefined) return [];
    const sent = readElements(list).map((element) => element.readDoubleBE());
    ids.set(name, sent);
    return sent.map((userId) => ({ user_id: userId }));
  };
  const users = [30, 4, 200].map((userId) => ({ ...user, userId }));
  const changes = { ...emptyChangeSet(), updated: users, deleted: users, created: users };
  await writeChanges(run, changes);
  expect([...ids]).toEqual(['updateUsers', 'deleteUsers', 'insertUsers'].map((name) => [name, [4, 30, 200]]));
});

test('writes data points in the order of workspaces and days, because replicas may share a counter shard', async () => {
  const lists: string[][] = [];
  const run: Run = async (statement, values = []) => {
    if (NAMES.get(statement) === 'addDataPoints') {
      lists.push(...values.slice(0, 2).map((list) => readElements(list).map(String)));
    }
    return [];
  };
  const points = [
    ['shop', '2026-03-02'],
    ['shop', '2026-03-01'],
    ['demo', '2026-03-02'],
  ].map(([workspaceId, day]) => ({ workspaceId: workspaceId!, day: day!, points: 1 }));
  await writeChanges(run, { ...emptyChangeSet(), points });
  expect(lists).toEqual([
    ['demo', 'shop', 'shop'],
    ['2026-03-02', '2026-03-01', '2026-03-02'],
  ]);
});
