import type { Changes, UserRow } from '../../profiles/changes.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import type { Work } from '../apply-works.ts';
import { countCampaigns } from '../campaign-counts.ts';
import { bannerEventRow, campaignRow, eventRow, keyRow, pointsRow, userRow } from '../rows.ts';
import { ConflictError } from '../write-errors.ts';
import type { RowsStatement } from './for-rows.ts';
import type { Run } from './statement.ts';
import {
  ADD_POINTS,
  COUNT_CAMPAIGNS,
  DELETE_KEYS,
  DELETE_USERS,
  ERASE,
  FORGET,
  INSERT_BANNER_EVENTS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  MOVE,
  MOVE_CAMPAIGNS,
  UPDATE_USERS,
} from './user-statements.ts';

/** Writes what a group has changed. Every count that does not match means that another replica was faster. */
export const writeChanges = async (
  changes: Changes,
  run: Run,
  ids: UserIds,
  works: readonly Pick<Work, 'also'>[] = [],
): Promise<void> => {
  const { updated, created, deleted, keysRemoved, keysAdded, moved, erased, forgotten } = changes;

  /** Resolves with what the statement returns for the rows; it is not sent where there are none. */
  const write = async ({ sql, values }: RowsStatement, rows: readonly object[]) =>
    rows.length === 0 ? [] : run(sql, values(rows));

  const expect = async (statement: RowsStatement, rows: readonly object[], onMiss?: () => void) => {
    if ((await write(statement, rows)).length === rows.length) return;
    onMiss?.();
    throw new ConflictError('Another replica has written the same users');
  };

  /** In the order in which others lock rows. */
  const inOrder = (users: readonly UserRow[]) => users.toSorted((a, b) => a.userId - b.userId).map(userRow);

  /** Stores banner events, and counts those that are no repeats. */
  const recordBannerEvents = async () => {
    const stored = await write(INSERT_BANNER_EVENTS, changes.bannerEvents.map(bannerEventRow));
    const nameOf = (row: Record<string, unknown>) =>
      [row['user_id'], row['banner_id'], row['event_type'], Math.round(row['time'] as number)].join(' ');
    const fresh = new Set(stored.map(nameOf));
    // Of two alike in one group the first was stored.
    const events = changes.bannerEvents.filter((each) => fresh.delete(nameOf(bannerEventRow(each))));
    await write(COUNT_CAMPAIGNS, countCampaigns(events).map(campaignRow));
  };

  const pairs = moved.map(({ from, to }) => ({ from_id: from, to_id: to }));
  // Each is sent before the one before has its answer.
  const sent = [
    expect(UPDATE_USERS, inOrder(updated)),
    expect(DELETE_USERS, inOrder(deleted)),
    expect(INSERT_USERS, inOrder(created), ids.changeLane),
    write(DELETE_KEYS, keysRemoved.map(keyRow)),
    expect(INSERT_KEYS, keysAdded.map(keyRow)),
    write(INSERT_EVENTS, changes.events.map(eventRow)),
    ...moved.map(({ from, to }) => run(MOVE_CAMPAIGNS, [from, to])),
    ...MOVE.map((statement) => write(statement, pairs)),
    ...(erased.length > 0 ? ERASE.map((statement) => run(statement, [erased])) : []),
    ...forgotten.flatMap(({ workspaceId, externalId }) =>
      FORGET.map((statement) => run(statement, [workspaceId, externalId])),
    ),
    // After the moves: what a user had before they were merged is a repeat as well.
    recordBannerEvents(),
    ...works.flatMap(({ also = [] }) => also).map(({ sql, values }) => run(sql, values)),
  ];
  // All answers first: counts that are sent after the end of a transaction would be stored beside the next attempt's.
  const refused = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (refused) throw (refused as PromiseRejectedResult).reason;
  // Last of all, because every writer of a workspace meets here.
  await write(ADD_POINTS, changes.points.map(pointsRow));
};
