import type { SQLInputValue } from 'node:sqlite';
import type { Changes } from '../../profiles/changes.ts';
import { eventRow, keyRow, pointsRow, userRow } from '../rows.ts';

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

/** The values of a row as SQLite has them: a boolean is a number, JSON is text. */
export const valuesOf = (row: object): SQLInputValue[] =>
  Object.values(row).map((value: unknown) => {
    if (typeof value === 'boolean') return Number(value);
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as SQLInputValue);
  });

const add = (list: SQLInputValue[], rows: readonly object[]) => {
  for (const row of rows) list.push(...valuesOf(row));
};

export const rowsOf = (changes: Changes): Rows => {
  const rows: Rows = { ...noRows(), bannerEvents: changes.bannerEvents };
  add(rows.events, changes.events.map(eventRow));
  add(rows.updated, changes.updated.map(userRow));
  add(rows.created, changes.created.map(userRow));
  add(rows.keysRemoved, changes.keysRemoved.map(keyRow));
  add(rows.keysAdded, changes.keysAdded.map(keyRow));
  add(rows.points, changes.points.map(pointsRow));
  for (const { userId } of changes.deleted) rows.deleted.push(userId);
  for (const { from, to } of changes.moved) {
    rows.moved.push(from, to);
    // What the other has as well stays behind.
    rows.erased.push(from);
  }
  rows.erased.push(...changes.erased);
  return rows;
};
