import type { DatabaseSync } from 'node:sqlite';
import type { SqlValue } from '../../operators/index.ts';
import { noChanges } from '../../profiles/user-set.ts';
import { askGoals, countGoals, deedsOf, type GoalStep } from '../count-goals.ts';
import { query } from '../dialect.ts';
import { deedsAmong, keptGoals } from '../goals.ts';
import { type GroupWrites, groupWrites, sendFirst, sendLast } from '../group-writes.ts';
import { EVENTS } from '../rows.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import { BUSY_MS, createSendSqlite } from './open.ts';

/** Pages that the write-ahead log may hold before the next commit moves them into the file: 64 MiB. Busy rows move once, not often. */
export const CHECKPOINT_PAGES = 16_384;
const CACHE_KIB = 64 * 1024;

export const setForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

export const NOTHING: GroupWrites = groupWrites(SQLITE_STATEMENTS, noChanges());

/** Where a column of an event is in a flat list. */
const AT = new Map(EVENTS.map(({ name }, index) => [name, index]));

/** Writes in transactions of which each is stored whole, or not at all where it throws. */
export const createWriter = (database: DatabaseSync) => {
  const send = createSendSqlite(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const readGoals = () => keptGoals(send(SQLITE_STATEMENTS.goals()));
  /** This connection alone changes them. */
  let kept = readGoals();

  const inTransaction = <T>(work: () => T): T => {
    begin.run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has rolled back on its own after some errors; the first error is the one to tell.
      }
      throw error;
    }
  };

  return {
    /** Runs a statement by itself. */
    run: (sql: string, values: SqlValue[]) => send(query(sql, ...values)),

    write(group: GroupWrites): void {
      inTransaction(() => {
        const { times, values } = group.events;
        const columnOf = (event: number, column: string) => values[event * EVENTS.length + AT.get(column)!];
        const counted = { ...group.counted, deeds: deedsAmong(times, columnOf, kept) };
        const found = sendFirst(send, SQLITE_STATEMENTS, kept, group, counted);
        sendLast(send, SQLITE_STATEMENTS, kept, group, counted, found);
      });
    },

    countGoals(step: GoalStep): boolean {
      const hasMore = inTransaction(() => {
        const found = askGoals(send, SQLITE_STATEMENTS, step);
        const counted = countGoals(SQLITE_STATEMENTS, step, found, send(deedsOf(SQLITE_STATEMENTS, found)));
        counted.writes.forEach(send);
        return counted.hasMore;
      });
      kept = readGoals();
      return hasMore;
    },
  };
};

export type Writer = ReturnType<typeof createWriter>;
