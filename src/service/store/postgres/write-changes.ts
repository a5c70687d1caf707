import type { Changes, UserRow } from '../../profiles/changes.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { countCampaigns } from '../campaign-counts.ts';
import { bannerEventRow, campaignRow, eventRow, keyRow, pointsRow, userRow } from '../rows.ts';
import { ConflictError } from '../write-errors.ts';
import type { Run } from './statement.ts';
import {
  ADD_POINTS,
  COUNT_CAMPAIGNS,
  DELETE_KEYS,
  DELETE_USERS,
  ERASE,
  FORGET_SUBJECT,
  INSERT_BANNER_EVENTS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  joined,
  MOVE,
  MOVE_CAMPAIGNS,
  quoted,
  UPDATE_USERS,
} from './user-statements.ts';

/** Rows as one parameter. */
const json = (rows: readonly object[]): string => JSON.stringify(rows);

const versions = (users: readonly UserRow[]) => [
  joined(users.map(({ userId }) => userId)),
  joined(users.map(({ version }) => version)),
];

const userValues = (users: readonly UserRow[]) => {
  const rows = users.map(userRow);
  return [
    ...versions(users),
    joined(rows.map((row) => JSON.stringify(row.external_id))),
    joined(rows.map((row) => JSON.stringify(row.profile))),
    joined(rows.map((row) => row.created_at)),
    joined(rows.map((row) => row.updated_at)),
  ];
};

/** In the order of the columns that the statement names. */
const eventValues = (events: Changes['events']) => {
  const rows = events.map(eventRow);
  return [
    quoted(rows.map((row) => row.workspace_id)),
    joined(rows.map((row) => row.user_id)),
    quoted(rows.map((row) => row.name)),
    quoted(rows.map((row) => row.product_id)),
    joined(rows.map((row) => row.price)),
    quoted(rows.map((row) => row.currency)),
    joined(rows.map((row) => row.quantity)),
    quoted(rows.map((row) => row.app_id)),
    joined(rows.map((row) => row.time)),
    joined(rows.map((row) => row.received_at)),
    joined(rows.map((row) => row.properties && JSON.stringify(row.properties))),
  ];
};

/** Stores banner events, and counts those that are no repeats. */
const recordBannerEvents = async (run: Run, events: Changes['bannerEvents']) => {
  const stored = await run<{ user_id: string; banner_id: string; event_type: string; time: number }>(
    INSERT_BANNER_EVENTS,
    [json(events.map(bannerEventRow))],
  );
  const fresh = new Set(
    stored.map((row) => `${row.user_id} ${row.banner_id} ${row.event_type} ${Math.round(row.time)}`),
  );
  const counts = countCampaigns(
    // Of two alike in one group the first was stored.
    events.filter(({ userId, event }) =>
      fresh.delete(`${userId} ${event.bannerId} ${event.eventType} ${event.timeMs}`),
    ),
  );
  if (counts.length === 0) return;
  const inOrder = counts.toSorted((a, b) => a.userId - b.userId || (a.campaignId < b.campaignId ? -1 : 1));
  await run(COUNT_CAMPAIGNS, [json(inOrder.map(campaignRow))]);
};

/** Writes what a group has changed. Every count that does not match means that another replica was faster. */
export const writeChanges = async (changes: Changes, run: Run, ids: UserIds): Promise<void> => {
  const { updated, created, deleted, keysRemoved, keysAdded, moved, erased, points } = changes;
  const sent: Promise<unknown>[] = [];
  const send = (isNeeded: boolean, work: () => Promise<unknown>) => {
    if (isNeeded) sent.push(work());
  };
  const expect = (rows: readonly unknown[], statement: string, values: () => string[], onMiss?: () => void) =>
    send(rows.length > 0, async () => {
      if ((await run(statement, values())).length === rows.length) return;
      onMiss?.();
      throw new ConflictError('Another replica has written the same users');
    });
  const expectUsers = (
    users: readonly UserRow[],
    statement: string,
    values: (users: readonly UserRow[]) => string[],
    onMiss?: () => void,
  ) => {
    // In the order in which others lock rows.
    const inOrder = users.toSorted((a, b) => a.userId - b.userId);
    expect(inOrder, statement, () => values(inOrder), onMiss);
  };
  // Each is sent before the one before has its answer.
  expectUsers(updated, UPDATE_USERS, userValues);
  expectUsers(deleted, DELETE_USERS, versions);
  expectUsers(created, INSERT_USERS, (users) => [json(users.map(userRow))], ids.changeLane);
  send(keysRemoved.length > 0, () => run(DELETE_KEYS, [json(keysRemoved.map(keyRow))]));
  expect(keysAdded, INSERT_KEYS, () => [json(keysAdded.map(keyRow))]);
  send(changes.events.length > 0, () => run(INSERT_EVENTS, eventValues(changes.events)));
  for (const { from, to } of moved) send(true, () => run(MOVE_CAMPAIGNS, [from, to]));
  const pairs = [joined(moved.map(({ from }) => from)), joined(moved.map(({ to }) => to))];
  for (const statement of MOVE) send(moved.length > 0, () => run(statement, pairs));
  for (const statement of ERASE) send(erased.length > 0, () => run(statement, [erased]));
  for (const { workspaceId, externalId } of changes.forgotten) {
    send(true, () => run(FORGET_SUBJECT, [workspaceId, externalId]));
  }
  // After the moves: what a user had before they were merged is a repeat as well.
  send(changes.bannerEvents.length > 0, () => recordBannerEvents(run, changes.bannerEvents));
  // All answers first: counts that are sent after the end of a transaction would be stored beside the next attempt's.
  const refused = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (refused) throw (refused as PromiseRejectedResult).reason;
  // Last of all, because every writer of a workspace meets here.
  if (points.length > 0) await run(ADD_POINTS, [json(points.map(pointsRow))]);
};
