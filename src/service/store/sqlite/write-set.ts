import type { SQLInputValue } from 'node:sqlite';
import type { Statement } from '../../operators/index.ts';
import type { Changes, UserRow } from '../../profiles/changes.ts';
import { eventRow, keyRow, pointsRow, userRow } from '../rows.ts';

/** One process writes the file. */
export const LANE = 0;

/**
 * What one transaction writes: flat lists of the values of all rows that a statement runs for, in the order of its
 * parameters. The lists cross to the writer's thread, and plain lists cross fastest.
 */
export const emptyWriteSet = () => ({
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
  forgotten: [] as string[],
  bannerEvents: [] as Changes['bannerEvents'],
  uncounted: [] as number[],
  merged: [] as Changes['moved'],
  points: [] as SQLInputValue[],
  also: [] as Statement[],
});

export type WriteSet = ReturnType<typeof emptyWriteSet>;

/** Adds the values of rows as SQLite has them: a boolean is a number, JSON is text. */
const add = (list: SQLInputValue[], rows: readonly object[]) => {
  for (const row of rows as Record<string, unknown>[]) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === 'boolean') list.push(Number(value));
      else if (typeof value === 'object' && value !== null) list.push(JSON.stringify(value));
      else list.push(value as SQLInputValue);
    }
  }
};

export const valuesOf = (row: object): SQLInputValue[] => {
  const values: SQLInputValue[] = [];
  add(values, [row]);
  return values;
};

// Users and events are nearly all that there is: their columns are named, as going over the members of a row takes twice as long.

const addUsers = (list: SQLInputValue[], users: readonly UserRow[]) => {
  for (const user of users) {
    const row = userRow(user);
    const profile = row.profile && JSON.stringify(row.profile);
    user.characters = profile?.length ?? 0;
    list.push(
      row.user_id,
      row.workspace_id,
      row.external_id,
      profile,
      row.version,
      row.created_at,
      row.updated_at,
    );
  }
};

const addEvents = (list: SQLInputValue[], events: Changes['events']) => {
  for (const event of events) {
    const row = eventRow(event);
    const properties = row.properties && JSON.stringify(row.properties);
    list.push(row.workspace_id, row.user_id, row.name, row.product_id, row.price, row.currency, row.quantity);
    list.push(row.app_id, row.time, row.received_at, properties);
  }
};

export const writeSetOf = (changes: Changes): WriteSet => {
  const rows: WriteSet = {
    ...emptyWriteSet(),
    bannerEvents: changes.bannerEvents,
    uncounted: changes.uncounted,
    merged: changes.moved,
  };
  addEvents(rows.events, changes.events);
  addUsers(rows.updated, changes.updated);
  addUsers(rows.created, changes.created);
  add(rows.keysRemoved, changes.keysRemoved.map(keyRow));
  add(rows.keysAdded, changes.keysAdded.map(keyRow));
  add(
    rows.points,
    changes.points.map((each) => pointsRow(each, LANE)),
  );
  for (const { userId } of changes.deleted) rows.deleted.push(userId);
  for (const { from, to } of changes.moved) rows.moved.push(from, to);
  rows.erased.push(...changes.erased);
  for (const { workspaceId, externalId } of changes.forgotten) rows.forgotten.push(workspaceId, externalId);
  return rows;
};
