import type { SQLInputValue } from 'node:sqlite';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import { profileJson } from '../../profiles/profile-json.ts';
import { type Changes, type KeyRow, noChanges, type UserRow } from '../changes.ts';

/**
 * What one transaction writes: for each statement a flat list of the values of all its rows. The lists cross to the
 * writer's thread, and plain lists cross fastest.
 */
export interface Rows {
  /** external_id, profile, version, created_at, updated_at, user_id */
  updated: SQLInputValue[];
  /** user_id, workspace_id, external_id, profile, version, created_at, updated_at */
  created: SQLInputValue[];
  /** user_id */
  deleted: number[];
  /** from, to */
  moved: number[];
  /** user_id */
  erased: number[];
  /** workspace_id, key, user_id */
  keysRemoved: SQLInputValue[];
  keysAdded: SQLInputValue[];
  /** workspace_id, user_id, name, product_id, price, currency, quantity, app_id, time, received_at, properties */
  events: SQLInputValue[];
  bannerEvents: Changes['bannerEvents'];
  /** workspace_id, day, points */
  points: SQLInputValue[];
  /** workspace_id, secret */
  secrets: string[];
}

const textOf = ({ profile }: UserRow) => profile && JSON.stringify(profileJson(profile));
const updatedAt = ({ profile, createdAtMs }: UserRow) => profile?.updatedAtMs ?? createdAtMs;
const createdAt = ({ profile, createdAtMs }: UserRow) => profile?.createdAtMs ?? createdAtMs;

const addEvent = (
  list: SQLInputValue[],
  { workspaceId, userId, event }: { workspaceId: string; userId: number; event: StoredEvent },
) => {
  const properties = event.properties && JSON.stringify(event.properties);
  const { appId, timeMs, receivedAtMs } = event;
  if (event.kind === 'event') {
    const { name } = event;
    list.push(workspaceId, userId, name, null, null, null, null, appId, timeMs, receivedAtMs, properties);
  } else {
    const { productId, price, currency, quantity } = event;
    list.push(workspaceId, userId, null, productId, price, currency, quantity);
    list.push(appId, timeMs, receivedAtMs, properties);
  }
};

export const rowsOf = (changes: Changes): Rows => {
  const rows: Rows = {
    updated: [],
    created: [],
    deleted: changes.deleted.map(({ userId }) => userId),
    moved: changes.moved.flatMap(({ from, to }) => [from, to]),
    erased: changes.erased,
    keysRemoved: [],
    keysAdded: [],
    events: [],
    bannerEvents: changes.bannerEvents,
    points: changes.points.flatMap(({ workspaceId, day, points }) => [workspaceId, day, points]),
    secrets: [],
  };
  for (const row of changes.updated) {
    const { externalId, version, userId } = row;
    rows.updated.push(externalId, textOf(row), version + 1, createdAt(row), updatedAt(row), userId);
  }
  for (const row of changes.created) {
    const { userId, workspaceId, externalId } = row;
    rows.created.push(userId, workspaceId, externalId, textOf(row), 1, createdAt(row), updatedAt(row));
  }
  const addKey = (list: SQLInputValue[]) => (row: KeyRow) => list.push(row.workspaceId, row.key, row.userId);
  changes.keysRemoved.forEach(addKey(rows.keysRemoved));
  changes.keysAdded.forEach(addKey(rows.keysAdded));
  for (const each of changes.events) addEvent(rows.events, each);
  return rows;
};

/** Rows of nothing but a secret. */
export const secretRows = (workspaceId: string, secret: string): Rows => ({
  ...rowsOf(noChanges()),
  secrets: [workspaceId, secret],
});
