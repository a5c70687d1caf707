import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { prepareBannerEvents } from './banner-events.ts';
import { prepareMoves } from './moves.ts';
import type { Rows } from './rows.ts';

/** Pages that the write-ahead log may hold before the next commit moves them into the file: 64 MiB. Busy rows move once, not often. */
export const CHECKPOINT_PAGES = 16_384;
const CACHE_KIB = 64 * 1024;
const BUSY_MS = 10_000;

export const prepareForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

/** Runs the statement once for each row of a flat list. */
const runEach = (statement: StatementSync, list: SQLInputValue[], columns: number) => {
  for (let i = 0; i < list.length; i += columns) statement.run(...list.slice(i, i + columns));
};

/** Writes rows in transactions. */
export const createWriter = (database: DatabaseSync) => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const update = database.prepare(
    'UPDATE users SET external_id = ?, profile = ?, version = ?, created_at = ?, updated_at = ? WHERE user_id = ?',
  );
  const create = database.prepare(
    `INSERT INTO users (user_id, workspace_id, external_id, profile, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = database.prepare('DELETE FROM users WHERE user_id = ?');
  const removeKey = database.prepare(
    'DELETE FROM user_keys WHERE workspace_id = ? AND key = ? AND user_id = ?',
  );
  const addKey = database.prepare('INSERT INTO user_keys (workspace_id, key, user_id) VALUES (?, ?, ?)');
  const addEvent = database.prepare(
    `INSERT INTO events (workspace_id, user_id, name, product_id, price, currency, quantity, app_id, time,
       received_at, properties) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const addPoints = database.prepare(
    `INSERT INTO data_points (workspace_id, day, points) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET points = points + excluded.points`,
  );
  const addSecret = database.prepare('INSERT OR IGNORE INTO secrets (workspace_id, secret) VALUES (?, ?)');
  const { move, erase } = prepareMoves(database);
  const recordBannerEvents = prepareBannerEvents(database);

  const run = (rows: Rows) => {
    runEach(addEvent, rows.events, 11);
    recordBannerEvents(rows.bannerEvents);
    runEach(update, rows.updated, 6);
    runEach(create, rows.created, 7);
    runEach(remove, rows.deleted, 1);
    runEach(removeKey, rows.keysRemoved, 3);
    runEach(addKey, rows.keysAdded, 3);
    for (let i = 0; i < rows.moved.length; i += 2) move(rows.moved[i]!, rows.moved[i + 1]!);
    for (const userId of rows.erased) erase(userId);
    runEach(addPoints, rows.points, 3);
    runEach(addSecret, rows.secrets, 2);
  };

  /** Of the transaction that is open, as far as it has failed. */
  let problem: unknown = null;
  let isOpen = false;
  const attempt = (step: () => void) => {
    if (problem) return;
    try {
      step();
    } catch (error) {
      problem = error ?? new Error('SQLite failed without an error');
    }
  };

  const undo = () => {
    if (!isOpen) return;
    try {
      rollback.run();
    } catch {
      // SQLite has rolled back on its own after some errors; the first error is the one to tell.
    }
  };

  return {
    /** Begins a transaction where none is open. What fails is told by the commit. */
    write(rows: Rows) {
      attempt(() => {
        if (!isOpen) begin.run();
        isOpen = true;
        run(rows);
      });
    },

    /** Makes durable what was written since the commit before, or throws, and nothing of it is. */
    commit() {
      attempt(() => commit.run());
      const failure = problem;
      if (failure) undo();
      problem = null;
      isOpen = false;
      if (failure) throw failure;
    },

    rollback() {
      undo();
      problem = null;
      isOpen = false;
    },
  };
};
