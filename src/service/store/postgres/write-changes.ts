import type { Changes, UserRow } from '../../profiles/changes.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { addEvent, createCounts, mergeUsers, repeatsOf, type UserState } from '../campaign-state.ts';
import {
  alikeOf,
  bannerEventRow,
  campaignRow,
  countRow,
  eventRow,
  keyRow,
  pointsRow,
  stateOf,
  userRow,
} from '../rows.ts';
import type { Work } from '../works.ts';
import { ConflictError } from '../write-errors.ts';
import type { RowsStatement, Run } from './statement.ts';
import {
  ADD_COUNTS,
  ADD_POINTS,
  ALL_STATES_OF,
  DELETE_KEYS,
  DELETE_USERS,
  ERASE,
  FORGET,
  INSERT_BANNER_EVENTS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  MOVE_BANNER_EVENTS,
  MOVE_EVENTS,
  STATES_OF,
  TALLY_EVENTS,
  UPDATE_USERS,
  WRITE_STATES,
} from './user-statements.ts';

/** What a replica keeps from group to group. */
export interface Replica {
  ids: UserIds;
  /** Of the counts that all replicas add to. */
  lane: number;
}

/** Writes what a group has changed. Every count that does not match means that another replica was faster. */
export const writeChanges = async (
  changes: Changes,
  run: Run,
  { ids, lane }: Replica,
  works: readonly Pick<Work, 'also'>[] = [],
): Promise<void> => {
  const { updated, created, deleted, keysRemoved, keysAdded, moved, erased, uncounted, forgotten } = changes;
  const counts = createCounts();

  /** Resolves with what the statement returns for the rows; it is not sent where there are none. */
  const write = async ({ sql, values }: RowsStatement, rows: readonly object[]) =>
    rows.length === 0 ? [] : run(sql, values(rows));

  const expect = async (statement: RowsStatement, rows: readonly object[], onMiss?: () => void) => {
    if ((await write(statement, rows)).length === rows.length) return;
    onMiss?.();
    throw new ConflictError('Another replica has written the same users');
  };

  /** In the order in which others lock rows. */
  const inOrder = (users: readonly UserRow[]) =>
    users
      .toSorted((a, b) => a.userId - b.userId)
      .map((user) => {
        const row = userRow(user);
        const profile = row.profile && JSON.stringify(row.profile);
        user.characters = profile?.length ?? 0;
        return { ...row, profile };
      });

  const writeStates = (states: readonly UserState[]) => {
    for (const { workspaceId, state } of states) counts.add(workspaceId, state);
    return write(WRITE_STATES, states.map(campaignRow));
  };

  const takeAway = (rows: readonly object[]): UserState[] => {
    const states = rows.map((row) => stateOf(row as Record<string, unknown>));
    for (const { workspaceId, state } of states) counts.takeAway(workspaceId, state);
    return states;
  };

  /** All that one user has becomes another's. Several may become the same one, so that each takes its turn. */
  const move = async ({ from, to }: Changes['moved'][number]) => {
    const states = takeAway(await run(ALL_STATES_OF, [[from, to]]));
    const tally = async (user: number) => (await run(TALLY_EVENTS, [user])).map(alikeOf);
    const before = states.length === 0 ? [] : [...(await tally(to)), ...(await tally(from))];
    await run(MOVE_EVENTS, [from, to]);
    await run(MOVE_BANNER_EVENTS, [from, to]);
    if (states.length === 0) return;
    const repeats = repeatsOf(before, await tally(to));
    const of = (user: number) => states.flatMap(({ userId, state }) => (userId === user ? [state] : []));
    const { workspaceId } = states[0]!;
    const merged = mergeUsers(of(to), of(from), repeats);
    await writeStates(merged.map((state) => ({ workspaceId, userId: to, state })));
  };

  /** Moves what users have who are merged, and deletes what others have who are gone. Most groups have none of them. */
  const moveAndErase = async () => {
    for (const pair of moved) await move(pair);
    if (uncounted.length > 0) takeAway(await run(ALL_STATES_OF, [uncounted]));
    if (erased.length > 0) await Promise.all(ERASE.map((statement) => run(statement, [erased])));
  };

  /** Stores banner events, and counts those that are no repeats. */
  const recordBannerEvents = async () => {
    const all = changes.bannerEvents;
    if (all.length === 0) return;
    const distinct = <T>(values: T[]): T[] => [...new Set(values)];
    const [stored, rows] = await Promise.all([
      write(INSERT_BANNER_EVENTS, all.map(bannerEventRow)),
      run(STATES_OF, [
        distinct(all.map(({ userId }) => userId)),
        distinct(all.map(({ event }) => event.campaignId)),
      ]),
    ]);
    const nameOf = (row: Record<string, unknown>) =>
      [row['user_id'], row['banner_id'], row['event_type'], Math.round(row['time'] as number)].join(' ');
    const fresh = new Set(stored.map(nameOf));
    const stateName = (userId: number, campaignId: string) => `${userId} ${campaignId}`;
    const known = new Map(
      rows.map(stateOf).map((each) => [stateName(each.userId, each.state.campaignId), each]),
    );
    const changed = new Map<string, UserState>();
    for (const each of all) {
      // Of two alike in one group the first was stored.
      if (!fresh.delete(nameOf(bannerEventRow(each))) || each.event.isTestSend) continue;
      const { workspaceId, userId, event } = each;
      const name = stateName(userId, event.campaignId);
      const before = changed.get(name) ?? known.get(name);
      if (before && !changed.has(name)) counts.takeAway(workspaceId, before.state);
      changed.set(name, { workspaceId, userId, state: addEvent(before?.state ?? null, event) });
    }
    await writeStates([...changed.values()]);
  };

  /** After the moves: what a user had before they were merged is a repeat as well. */
  const changeRows = async () => {
    if (moved.length + erased.length > 0) await moveAndErase();
    await recordBannerEvents();
  };

  // Each is sent before the one before has its answer.
  const sent = [
    expect(UPDATE_USERS, inOrder(updated)),
    expect(DELETE_USERS, inOrder(deleted)),
    expect(INSERT_USERS, inOrder(created), ids.changeLane),
    write(DELETE_KEYS, keysRemoved.map(keyRow)),
    expect(INSERT_KEYS, keysAdded.map(keyRow)),
    write(INSERT_EVENTS, changes.events.map(eventRow)),
    changeRows(),
    ...forgotten.flatMap(({ workspaceId, externalId }) =>
      FORGET.map((statement) => run(statement, [workspaceId, externalId])),
    ),
    ...works.flatMap(({ also = [] }) => also).map(({ sql, values }) => run(sql, values)),
  ];
  // All answers first: counts that are sent after the end of a transaction would be stored beside the next attempt's.
  const refused = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (refused) throw (refused as PromiseRejectedResult).reason;
  // Last of all, as every request of a workspace adds to these.
  await Promise.all([
    write(
      ADD_COUNTS,
      counts.rows().map((count) => countRow(count, lane)),
    ),
    write(
      ADD_POINTS,
      changes.points.map((each) => pointsRow(each, lane)),
    ),
  ]);
};
