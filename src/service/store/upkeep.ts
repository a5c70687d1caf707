import { createIngestionStore } from '../integrations/ingestion-store.ts';
import type { IngestionStore } from '../integrations/records.ts';
import { createStudioStore, type RunSql, type StudioStore, textIn } from '../operators/index.ts';
import { type Dialect, POSTGRES, SQLITE } from './dialect.ts';
import { connectBeside } from './postgres/schema.ts';
import { runIn } from './postgres/statement.ts';
import { claimFile, createRunSqlite, openBeside } from './sqlite/open.ts';
import type { Store } from './store.ts';
import { createWorkspaceReads } from './workspace-reads.ts';

/** True for a database server's URL; anything else names a SQLite file. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/** The path of a SQLite file. SQLite alone reads `file:` as a URL: the lock and the log beside it would be another file's. */
export const pathOf = (address: string): string => {
  if (address.startsWith('file:')) throw new Error('expected the path of a file, not a file: URL');
  return address;
};

/** A database that a service may be using at this moment. */
export interface VisitedStore {
  studio: StudioStore;
  ingestion: IngestionStore;
  workspaceIds: Store['workspaceIds'];
  prune: Store['prune'];
  close(): Promise<void>;
}

const visitAs = (run: RunSql, dialect: Dialect, close: () => Promise<void>): VisitedStore => ({
  studio: createStudioStore(run),
  ingestion: createIngestionStore(run),
  workspaceIds: createWorkspaceReads(run).workspaceIds,
  prune: createPrune(run, dialect),
  close,
});

/** Opens what may be changed beside a service. */
export const visitStore = async (address: string): Promise<VisitedStore> => {
  if (isPostgres(address)) {
    const { pool, close } = await connectBeside(address);
    return visitAs(runIn(pool), POSTGRES, close);
  }
  const database = openBeside(pathOf(address));
  return visitAs(createRunSqlite(database), SQLITE, async () => database.close());
};

const TABLES = ['users', 'user_keys', 'events', 'banner_events', 'user_campaigns', 'operator_audit'];

/** Writes each table anew, without what was deleted; what asks for a table waits meanwhile. */
export const vacuumPostgres = async (url: string): Promise<void> => {
  const { pool, close } = await connectBeside(url);
  try {
    for (const table of TABLES) await runIn(pool)(`VACUUM (FULL, ANALYZE) ${table}`);
  } finally {
    await close();
  }
};

/** Writes the file anew, without what was deleted. No service may be using it. */
export const vacuumSqlite = (file: string): void => {
  const release = claimFile(file);
  try {
    const database = openBeside(file);
    try {
      database.exec('VACUUM');
      // The log as well has pages of before.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } finally {
    release();
  }
};

/** What happened before these moments goes; `null` keeps all of a kind. Unix milliseconds. */
export interface PruneBefore {
  events: number | null;
  bannerEvents: number | null;
}

/** Rows that went. */
export interface Pruned {
  events: number;
  bannerEvents: number;
  /** Whether older rows may be there still. */
  hasMore: boolean;
}

/**
 * Rows that one step deletes of a table: a millisecond of work and a sync of the disk, which takes far longer. Fewer would take as
 * long, more would keep writes waiting, which come in between.
 */
const ROWS_A_STEP = 250;

/** The table's columns that say which row is meant, where a shard finds them by its primary key. */
const KEYS = {
  events: 'user_id, time, event_id',
  banner_events: 'user_id, campaign_id, banner_id, event_type, time',
};

/** Deletes some old rows, in one statement of both databases. */
const statement = (table: keyof typeof KEYS, { moment }: Dialect) =>
  `DELETE FROM ${table} WHERE (${KEYS[table]}) IN (
     SELECT ${KEYS[table]} FROM ${table} WHERE workspace_id = $1 AND time < ${moment('$2')} LIMIT ${ROWS_A_STEP}
   ) RETURNING user_id`;

/**
 * Deletes some of a workspace's old events. Users, their keys and what a decision needs to know of them stay, and so do the counts
 * of campaigns. Where nothing is old an index says so.
 */
export const createPrune =
  (run: RunSql, dialect: Dialect): Store['prune'] =>
  async (workspaceId, before) => {
    const prune = async (table: keyof typeof KEYS, ms: number | null) =>
      ms === null ? 0 : (await run(statement(table, dialect), [workspaceId, ms])).length;
    const events = await prune('events', before.events);
    const bannerEvents = await prune('banner_events', before.bannerEvents);
    return { events, bannerEvents, hasMore: Math.max(events, bannerEvents) === ROWS_A_STEP };
  };

/**
 * Finds users without a profile of whom nothing came since a moment. A client key makes them, so that nobody else would delete
 * them. Of both databases.
 */
export const createFindStale =
  (run: RunSql, dialect: Dialect): Store['staleUsers'] =>
  async (workspaceId, beforeMs) => {
    const rows = await run(
      `SELECT external_id FROM users
       WHERE workspace_id = $1 AND profile IS NULL AND updated_at < ${dialect.moment('$2')} ORDER BY updated_at LIMIT 200`,
      [workspaceId, beforeMs],
    );
    return rows.map((row) => textIn(row, 'external_id'));
  };
