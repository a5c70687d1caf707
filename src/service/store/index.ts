import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresReader, openPostgresStore } from './postgres/index.ts';
import { backupSqlite } from './sqlite/backup.ts';
import { openSqliteReader, openSqliteStore } from './sqlite/index.ts';
import type { Store, StoreReader } from './store.ts';
import type { Pruned } from './upkeep.ts';
import { isPostgres, pathOf, vacuumPostgres, vacuumSqlite, visitStore } from './upkeep.ts';

export type { Conversion } from './goals.ts';
export type {
  ArmResults,
  CampaignResults,
  Counts,
  DayResults,
  Goal,
  PlacementResults,
  ResultsQuestion,
} from './results.ts';
export type {
  BannerUser,
  Commit,
  RateRule,
  RateState,
  Store,
  StoreReader,
  UserCampaign,
  UserWork,
} from './store.ts';
export { visitStore } from './upkeep.ts';

/**
 * Opens a store by its address: a file path, `:memory:`, or a `postgres://` URL. The tables are made
 * where there are none, and older ones are brought forward; a database that a newer Placard made is refused.
 */
export const openStore = (address: string): Promise<Store> =>
  isPostgres(address) ? openPostgresStore(address) : openSqliteStore(pathOf(address));

/** Opens a database that a service may be writing at this moment, for reading alone. */
export const openStoreReader = async (address: string): Promise<StoreReader> =>
  isPostgres(address) ? openPostgresReader(address) : openSqliteReader(pathOf(address));

/**
 * Deletes what happened before the moment, in every workspace, while a service may be using the database. Yields the rows
 * that each step has deleted. Events stay counted in the profiles and in `user_campaigns`.
 */
export async function* pruneStore(address: string, beforeMs: number): AsyncGenerator<Pruned, void> {
  const before = { events: beforeMs, bannerEvents: beforeMs };
  const visited = await visitStore(address);
  try {
    for (const workspaceId of await visited.workspaceIds()) {
      for (let hasMore = true; hasMore; ) {
        const started = performance.now();
        const step = await visited.prune(workspaceId, before);
        yield step;
        hasMore = step.hasMore;
        // Of a SQLite file a service may be the owner: as long as a step took, the writes that waited for it go.
        if (hasMore) await pause(performance.now() - started);
      }
    }
  } finally {
    await visited.close();
  }
}

/** Gives the room of deleted rows back to the disk, and what was in them is gone. Of SQLite no service may be using the file. */
export const vacuumStore = async (address: string): Promise<void> =>
  isPostgres(address) ? vacuumPostgres(address) : vacuumSqlite(pathOf(address));

/** Copies a SQLite file while a service writes it; `destination` must not exist. An abort rejects with its reason. */
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
  await backupSqlite(pathOf(address), pathOf(destination), signal);
};
