import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Forgotten } from '../forgotten.ts';
import { createLogRoom } from './log-room.ts';
import { openExisting } from './open-existing.ts';
import { checkIsCurrent } from './schema.ts';
import { prepareForWriting } from './writer.ts';

/** Rows that one transaction deletes: the service writes in between. */
const PAGE = 1_000;

const TABLES = [
  {
    table: 'events',
    key: ['request'],
    // A row stays while it holds something newer, or something that a user's row does not know yet.
    isOld: 'newest_ms < ? AND request <= (SELECT settled_request FROM progress)',
  },
  {
    table: 'banner_events',
    key: ['workspace_id', 'external_user_id', 'banner_id', 'event_type', 'timestamp_ms'],
    isOld: 'timestamp_ms < ?',
  },
] as const;

const deletePages = (
  database: DatabaseSync,
  { table, key, isOld }: (typeof TABLES)[number],
  beforeMs: number,
  keepRoom: () => boolean,
) => {
  const columns = key.join(', ');
  const marks = key.map(() => '?').join(', ');
  const select = (after: string) =>
    database.prepare(
      `SELECT ${columns} FROM ${table} WHERE ${isOld} ${after} ORDER BY ${columns} LIMIT ${PAGE}`,
    );
  const first = select('');
  const next = select(`AND (${columns}) > (${marks})`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE (${columns}) = (${marks})`);
  let rows = 0;
  for (let page = first.all(beforeMs); page.length > 0; ) {
    const keys = page.map((row) => key.map((column) => row[column] as SQLInputValue));
    keepRoom();
    database.exec('BEGIN IMMEDIATE');
    for (const values of keys) remove.run(...values);
    database.exec('COMMIT');
    rows += keys.length;
    page = next.all(beforeMs, ...keys.at(-1)!);
  }
  return rows;
};

/** Deletes events older than `beforeMs`. The file does not shrink: the room is used again. */
export const forgetSqliteEvents = (file: string, beforeMs: number, dryRun: boolean): Forgotten[] => {
  const database = openExisting(file, { readOnly: false });
  try {
    checkIsCurrent(database, file);
    prepareForWriting(database);
    const keepRoom = createLogRoom(database, file);
    return TABLES.map((each) => {
      const { table, isOld } = each;
      const count = database.prepare(`SELECT count(*) AS rows FROM ${table} WHERE ${isOld}`);
      const rows = dryRun
        ? Number(count.get(beforeMs)?.['rows'])
        : deletePages(database, each, beforeMs, keepRoom);
      return { table, partition: table, rows };
    });
  } finally {
    database.close();
  }
};
