import type { SQLInputValue } from 'node:sqlite';
import { profileJson } from '../../profiles/profile-json.ts';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import type { Changes, KeyRow, UserRow } from '../changes.ts';

/**
 * A part of what one transaction writes: for each statement a flat list of the values of all its rows. The lists cross to the
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

export const noRows = (): Rows => ({
  updated: [],
  created: [],
  deleted: [],
  moved: [],
  erased: [],
  keysRemoved: [],
  keysAdded: [],
  events: [],
  bannerEvents: [],
  points: [],
  secrets: [],
});

const textOf = ({ profile }: UserRow): string | null => profile && JSON.stringify(profileJson(profile));
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

const eventRows = ({ events, bannerEvents }: Changes): Rows => {
  const rows: Rows = { ...noRows(), bannerEvents };
  for (const each of events) addEvent(rows.events, each);
  return rows;
};

const userRows = (changes: Changes): Rows => {
  const rows = noRows();
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
  for (const { userId } of changes.deleted) rows.deleted.push(userId);
  for (const { from, to } of changes.moved) rows.moved.push(from, to);
  rows.erased.push(...changes.erased);
  for (const { workspaceId, day, points } of changes.points) rows.points.push(workspaceId, day, points);
  return rows;
};

/** In two parts: while the writer's thread writes the events, the profiles of the users are made texts here. */
export function* rowsOf(changes: Changes): Generator<Rows> {
  yield eventRows(changes);
  yield userRows(changes);
}
