import type { DatabaseSync } from 'node:sqlite';
import { numberIn, type SqlValue } from '../../operators/index.ts';
import { noChanges } from '../../profiles/user-set.ts';
import { askGoals, countGoals, deedsOf, type GoalStep } from '../count-goals.ts';
import { type Batch, query, SQLITE } from '../dialect.ts';
import { type Deed, deedIn, type KeptGoals, keptGoals } from '../goals.ts';
import { type GroupWrites, groupWrites, sendFirst, sendLast } from '../group-writes.ts';
import type { CountedChanges, CountedTables } from '../keep-counts.ts';
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

export const TABLES: CountedTables = {
  dialect: SQLITE,
  statements: SQLITE_STATEMENTS,
  // One process writes the file.
  lane: 0,
};
export const NOTHING: GroupWrites = groupWrites(TABLES, noChanges());

/** Where a column of an event is in a flat list. */
const AT = Object.fromEntries(EVENTS.map(({ name }, index) => [name, index]));

/** The events that are goals of a campaign. */
const deedsAmong = ({ values: events }: Batch, kept: KeptGoals): CountedChanges['deeds'] => {
  const deeds: { workspaceId: string; userId: number; deed: Deed }[] = [];
  if (kept.version === 0) return deeds;
  for (let i = 0; i < events.length; i += EVENTS.length) {
    const workspaceId = String(events[i + AT['workspace_id']!]);
    const productId = events[i + AT['product_id']!];
    const name = productId === null ? `event:${events[i + AT['name']!]}` : `product:${productId}`;
    if (kept.campaignsWith(workspaceId, name).length === 0) continue;
    const row = Object.fromEntries(EVENTS.map(({ name }, index) => [name, events[i + index]]));
    deeds.push({ workspaceId, userId: numberIn(row, 'user_id'), deed: deedIn(row) });
  }
  return deeds;
};

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
        const counted = { ...group.counted, deeds: deedsAmong(group.events, kept) };
        const found = sendFirst(send, TABLES, kept, group, counted);
        sendLast(send, TABLES, kept, group, counted, found);
      });
    },

    countGoals(step: GoalStep): boolean {
      const hasMore = inTransaction(() => {
        const found = askGoals(send, TABLES, step);
        const counted = countGoals(TABLES, step, found, send(deedsOf(TABLES, found)));
        counted.writes.forEach(send);
        return counted.hasMore;
      });
      kept = readGoals();
      return hasMore;
    },
  };
};

export type Writer = ReturnType<typeof createWriter>;
