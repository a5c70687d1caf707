import { profileJson } from '../../profiles/profile-json.ts';
import type { UserIds } from '../../profiles/user-id.ts';
import { countCampaigns } from '../campaign-counts.ts';
import type { Changes, KeyRow, UserRow } from '../changes.ts';
import { ConflictError } from './retry.ts';
import type { Run } from './statement.ts';
import {
  ADD_POINTS,
  CHECK_USERS,
  COUNT_CAMPAIGNS,
  DELETE_KEYS,
  DELETE_USERS,
  ERASE,
  INSERT_BANNER_EVENTS,
  INSERT_EVENTS,
  INSERT_KEYS,
  INSERT_USERS,
  joined,
  MOVE,
  MOVE_CAMPAIGNS,
  UPDATE_USERS,
} from './user-statements.ts';

const createdMs = ({ profile, createdAtMs }: UserRow) => profile?.createdAtMs ?? createdAtMs;
const updatedMs = ({ profile, createdAtMs }: UserRow) => profile?.updatedAtMs ?? createdAtMs;

const versions = (users: UserRow[]) => [
  joined(users.map(({ userId }) => userId)),
  joined(users.map(({ version }) => version)),
];

const userValues = (users: UserRow[]) => [
  ...versions(users),
  joined(users.map(({ externalId }) => JSON.stringify(externalId))),
  joined(users.map(({ profile }) => JSON.stringify(profile && profileJson(profile)))),
  joined(users.map(createdMs)),
  joined(users.map(updatedMs)),
];

const newUsers = (users: UserRow[]) =>
  JSON.stringify(
    users.map((row) => ({
      user_id: row.userId,
      workspace_id: row.workspaceId,
      external_id: row.externalId,
      profile: row.profile && profileJson(row.profile),
      created_ms: createdMs(row),
      updated_ms: updatedMs(row),
    })),
  );

const keyRows = (keys: KeyRow[]) =>
  JSON.stringify(
    keys.map(({ workspaceId, key, userId }) => ({ workspace_id: workspaceId, key, user_id: userId })),
  );

const eventRows = (events: Changes['events']) =>
  JSON.stringify(
    events.map(({ workspaceId, userId, event }) => ({
      workspace_id: workspaceId,
      user_id: userId,
      ...(event.kind === 'event'
        ? { name: event.name }
        : {
            product_id: event.productId,
            price: event.price,
            currency: event.currency,
            quantity: event.quantity,
          }),
      app_id: event.appId,
      time_ms: event.timeMs,
      received_ms: event.receivedAtMs,
      properties: event.properties,
    })),
  );

const bannerEventRows = (events: Changes['bannerEvents']) =>
  JSON.stringify(
    events.map(({ workspaceId, userId, event }) => ({
      user_id: userId,
      banner_id: event.bannerId,
      event_type: event.eventType,
      time_ms: event.timeMs,
      workspace_id: workspaceId,
      campaign_id: event.campaignId,
      variant_id: event.variantId,
      placement_id: event.placementId,
      app_id: event.appId,
      is_control: event.isControl,
      is_test_send: event.isTestSend,
      received_ms: event.receivedAtMs,
    })),
  );

/** Stores banner events, and counts those that are no repeats. */
const recordBannerEvents = async (run: Run, events: Changes['bannerEvents']) => {
  const stored = await run<{ user_id: string; banner_id: string; event_type: string; time: number }>(
    INSERT_BANNER_EVENTS,
    [bannerEventRows(events)],
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
  const rows = counts
    .toSorted((a, b) => a.userId - b.userId || (a.campaignId < b.campaignId ? -1 : 1))
    .map((row) => ({
      user_id: row.userId,
      campaign_id: row.campaignId,
      workspace_id: row.workspaceId,
      variant_id: row.variantId,
      is_control: row.isControl,
      impressions: row.impressions,
      first_ms: row.firstImpressionMs,
      last_ms: row.lastImpressionMs,
      clicks: row.clicks,
      dismissals: row.dismissals,
      dismissal_ms: row.lastDismissalMs,
      round: row.round,
    }));
  await run(COUNT_CAMPAIGNS, [JSON.stringify(rows)]);
};

export interface WriteOptions {
  run: Run;
  ids: UserIds;
  /** Users who were read without a lock and only got banner events: nothing else would show that they were merged away. */
  checked: readonly UserRow[];
}

/** Writes what a group has changed. Every count that does not match means that another replica was faster. */
export const writeChanges = async (changes: Changes, { run, ids, checked }: WriteOptions): Promise<void> => {
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
  // In the order in which others lock rows; each is sent before the one before has its answer.
  const inOrder = updated.toSorted((a, b) => a.userId - b.userId);
  expect(inOrder, UPDATE_USERS, () => userValues(inOrder));
  expect(checked, CHECK_USERS, () => versions([...checked]));
  expect(deleted, DELETE_USERS, () => versions(deleted));
  expect(created, INSERT_USERS, () => [newUsers(created)], ids.changeLane);
  send(keysRemoved.length > 0, () => run(DELETE_KEYS, [keyRows(keysRemoved)]));
  expect(keysAdded, INSERT_KEYS, () => [keyRows(keysAdded)]);
  send(changes.events.length > 0, () => run(INSERT_EVENTS, [eventRows(changes.events)]));
  for (const { from, to } of moved) send(true, () => run(MOVE_CAMPAIGNS, [from, to]));
  const pairs = [joined(moved.map(({ from }) => from)), joined(moved.map(({ to }) => to))];
  for (const statement of MOVE) send(moved.length > 0, () => run(statement, pairs));
  const gone = [...erased, ...moved.map(({ from }) => from)];
  for (const statement of ERASE) send(gone.length > 0, () => run(statement, [gone]));
  // After the moves: what a user had before they were merged is a repeat as well.
  send(changes.bannerEvents.length > 0, () => recordBannerEvents(run, changes.bannerEvents));
  await Promise.all(sent);
  // Last of all, because every writer of a workspace meets here.
  if (points.length > 0) {
    const rows = points.map((row) => ({ workspace_id: row.workspaceId, day: row.day, points: row.points }));
    await run(ADD_POINTS, [JSON.stringify(rows)]);
  }
};
