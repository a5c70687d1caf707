import type { SQLInputValue } from 'node:sqlite';
import { profileJson } from '../../profiles/profile-json.ts';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import type { Changes, KeyRow, UserRow } from '../changes.ts';

/**
 * What one transaction writes: flat lists of the values of all rows that a statement runs for, in the order of its
 * parameters. The lists cross to the writer's thread, and plain lists cross fastest.
 */
export const noRows = () => ({
  events: [] as SQLInputValue[],
  updated: [] as SQLInputValue[],
  created: [] as SQLInputValue[],
  deleted: [] as number[],
  keysRemoved: [] as SQLInputValue[],
  keysAdded: [] as SQLInputValue[],
  /** From whom, to whom. */
  moved: [] as number[],
  /** Users whose rows in the other tables go. */
  erased: [] as number[],
  bannerEvents: [] as Changes['bannerEvents'],
  points: [] as SQLInputValue[],
  secrets: [] as string[],
});

export type Rows = ReturnType<typeof noRows>;

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

export const rowsOf = (changes: Changes): Rows => {
  const rows: Rows = { ...noRows(), bannerEvents: changes.bannerEvents };
  for (const each of changes.events) addEvent(rows.events, each);
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
  for (const { from, to } of changes.moved) {
    rows.moved.push(from, to);
    // What the other has as well stays behind.
    rows.erased.push(from);
  }
  for (const userId of changes.erased) rows.erased.push(userId);
  for (const { workspaceId, day, points } of changes.points) rows.points.push(workspaceId, day, points);
  return rows;
};
