import type { DatabaseSync } from 'node:sqlite';
import { forgetRejects } from '../../integrations/tables.ts';
import { forgetSubject } from '../../operators/index.ts';
import { createBannerEventWriter } from './banner-events.ts';
import { BUSY_MS, createRunSqlite } from './open.ts';
import type { WriteSet } from './write-set.ts';

/** Pages that the write-ahead log may hold before the next commit moves them into the file: 64 MiB. Busy rows move once, not often. */
export const CHECKPOINT_PAGES = 16_384;
const CACHE_KIB = 64 * 1024;

export const prepareForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

/** A statement for each list of rows, in the order in which they run. */
const STATEMENTS: [Exclude<keyof WriteSet, 'bannerEvents' | 'merged' | 'uncounted' | 'also'>, string][] = [
  [
    'events',
    `INSERT INTO events (workspace_id, user_id, name, product_id, price, currency, quantity, app_id, time,
       received_at, properties) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ],
  [
    'updated',
    // The workspace stays: to set it, if only to what it is, writes its index as well.
    `UPDATE users SET external_id = ?3, profile = ?4, version = ?5, created_at = ?6, updated_at = ?7
     WHERE user_id = ?1 AND workspace_id = ?2`,
  ],
  [
    'created',
    `INSERT INTO users (user_id, workspace_id, external_id, profile, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ],
  ['deleted', 'DELETE FROM users WHERE user_id = ?'],
  ['keysRemoved', 'DELETE FROM user_keys WHERE workspace_id = ? AND key = ? AND user_id = ?'],
  ['keysAdded', 'INSERT INTO user_keys (workspace_id, key, user_id) VALUES (?, ?, ?)'],
  ['moved', 'UPDATE events SET user_id = ?2 WHERE user_id = ?1'],
  ['erased', 'DELETE FROM events WHERE user_id = ?'],
  ['erased', 'DELETE FROM banner_events WHERE user_id = ?'],
  ['erased', 'DELETE FROM user_campaigns WHERE user_id = ?'],
  ['forgotten', forgetSubject('?', '?')],
  ['forgotten', forgetRejects('?', '?')],
  [
    'points',
    `INSERT INTO data_points (workspace_id, day, lane, points) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET points = points + excluded.points`,
  ],
];

/** Writes rows in one transaction. Where it throws nothing of them is stored. */
export const createWriter = (database: DatabaseSync) => {
  const statements = STATEMENTS.map(([list, sql]) => {
    const parameters = sql.split('?').length - 1;
    return { list, statement: database.prepare(sql), parameters };
  });
  const runAlso = createRunSqlite(database);
  const recordBannerEvents = createBannerEventWriter(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  const run = (rows: WriteSet) => {
    // First, as it reads what users have before they go, and moves it.
    recordBannerEvents({ moved: rows.merged, uncounted: rows.uncounted, bannerEvents: rows.bannerEvents });
    for (const { list, statement, parameters } of statements) {
      const values = rows[list];
      for (let i = 0; i < values.length; i += parameters) statement.run(...values.slice(i, i + parameters));
    }
    for (const { sql, values } of rows.also) runAlso(sql, values);
  };

  return (rows: WriteSet): void => {
    begin.run();
    try {
      run(rows);
      commit.run();
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has rolled back on its own after some errors; the first error is the one to tell.
      }
      throw error;
    }
  };
};
