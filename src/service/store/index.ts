import { setTimeout as pause } from 'node:timers/promises';
import { OPERATOR_AUDIT } from '../operators/index.ts';
import { openPostgresReader, openPostgresStore } from './postgres/index.ts';
import { createPostgresParts } from './postgres/parts.ts';
import { connectShared, isSharded } from './postgres/schema.ts';
import { createPoolRun } from './postgres/statement.ts';
import { backupSqlite } from './sqlite/backup.ts';
import { openSqliteReader, openSqliteStore } from './sqlite/index.ts';
import { acquireLock, openShared } from './sqlite/open.ts';
import { createSqliteParts } from './sqlite/parts.ts';
import { createInlineWriter } from './sqlite/writer.ts';
import type { Feed, Pruned, Store, StoreReader } from './store.ts';
import { TABLES } from './tables.ts';
import { createWorkspaceReads } from './workspace-reads.ts';

export type { Counts } from '../measures.ts';
export type { Goal } from '../results/goals.ts';
export type {
  ArmResults,
  CampaignResults,
  DayResults,
  GoalResult,
  PlacementResults,
  ResultsQuery,
} from '../results/read.ts';
export { isTooLow } from '../results/verify.ts';
export type {
  Commit,
  RateLimitResult,
  Store,
  StoreReader,
  TargetingData,
  UserMutation,
} from './store.ts';

/** Whether the address is a PostgreSQL URL. Any other address is the path of a SQLite file. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/**
 * Returns the path of a SQLite file. Rejects `file:` URLs, because only SQLite resolves them, so the lock and the log would
 * belong to another file.
 */
const getFilePath = (address: string): string => {
  if (address.startsWith('file:')) throw new Error('expected the path of a file, not a file: URL');
  return address;
};

/**
 * Opens a store by its address, which is a file path, `:memory:`, or a `postgres://` URL. Creates the tables if they do not
 * exist. Throws if another build of Placard created the tables.
 */
export const openStore = (address: string): Promise<Store> =>
  isPostgres(address) ? openPostgresStore(address) : openSqliteStore(getFilePath(address));

/** Opens a database read-only, beside a running service. */
export const openStoreReader = async (address: string): Promise<StoreReader> =>
  isPostgres(address) ? openPostgresReader(address) : openSqliteReader(getFilePath(address));

/** Parts of a store that a running service may use at the same time. */
type MaintenanceStore = Pick<
  Store,
  keyof Feed | 'studio' | 'ingestion' | 'webhooks' | 'workspaceIds' | 'prune' | 'close'
>;

/** Opens a database for maintenance beside a running service. */
export const openForMaintenance = async (address: string): Promise<MaintenanceStore> => {
  if (isPostgres(address)) {
    const { pool, close } = await connectShared(address);
    const run = createPoolRun(pool);
    const { parts } = createPostgresParts({ pool, resultsPool: pool, isSharded: await isSharded(run) });
    return { ...parts, workspaceIds: createWorkspaceReads(run).workspaceIds, close };
  }
  const database = openShared(getFilePath(address));
  const writer = createInlineWriter(database);
  const { parts } = createSqliteParts(database, writer);
  return { ...parts, workspaceIds: createWorkspaceReads(writer.run).workspaceIds, close: writer.close };
};

/**
 * Deletes rows before a time in every workspace, beside a running service. Yields the rows that each batch has deleted. Profiles
 * and `user_campaigns` keep the counts.
 */
export async function* pruneStore(address: string, beforeMs: number): AsyncGenerator<Pruned, void> {
  const before = { events: beforeMs, bannerEvents: beforeMs };
  const store = await openForMaintenance(address);
  try {
    for (const workspaceId of await store.workspaceIds()) {
      for (let hasMore = true; hasMore; ) {
        const started = performance.now();
        const batch = await store.prune(workspaceId, before);
        yield batch;
        hasMore = batch.hasMore;
        // A running service may own the SQLite file. Pauses for the duration of the batch, so that waiting writes proceed.
        if (hasMore) await pause(performance.now() - started);
      }
    }
  } finally {
    await store.close();
  }
}

/** Tables from which erasure and retention delete many rows. */
const VACUUMED = TABLES.filter((table) => table.distributedBy !== null || table === OPERATOR_AUDIT);

/** Rewrites each table without deleted rows. Blocks queries of the table in the meantime. */
const vacuumPostgres = async (url: string): Promise<void> => {
  const { pool, close } = await connectShared(url);
  try {
    for (const { name } of VACUUMED) await createPoolRun(pool)(`VACUUM (FULL, ANALYZE) ${name}`);
  } finally {
    await close();
  }
};

/** Rewrites the file without deleted rows. No service may have the file open. */
const vacuumSqlite = (file: string): void => {
  const release = acquireLock(file);
  try {
    const database = openShared(file);
    try {
      database.exec('VACUUM');
      // The log contains old pages, too.
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } finally {
    release();
  }
};

/** Returns the space of deleted rows to the file system, and removes their contents. No service may have a SQLite file open. */
export const vacuumStore = async (address: string): Promise<void> =>
  isPostgres(address) ? vacuumPostgres(address) : vacuumSqlite(getFilePath(address));

/**
 * Copies a SQLite file beside a running service. `destination` must not exist. Rejects with the reason of the signal if aborted.
 */
export const backupStore = async (
  address: string,
  destination: string,
  { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
): Promise<void> => {
  if (isPostgres(address)) {
    throw new Error(
      'A PostgreSQL database is backed up with its own tools, such as pg_dump or a base backup',
    );
  }
  await backupSqlite(getFilePath(address), getFilePath(destination), signal);
};
