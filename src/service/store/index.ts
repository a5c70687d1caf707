import {
  openPostgresStudioStore,
  openSqliteStudioStore,
  type VisitedStudioStore,
} from './open-studio-store.ts';
import { openPostgresReader, openPostgresStore } from './postgres/index.ts';
import { openPostgresPruner, vacuumPostgres } from './postgres/prune.ts';
import type { Pruned } from './prune.ts';
import { backupSqlite } from './sqlite/backup.ts';
import { openSqliteStore } from './sqlite/index.ts';
import { openSqlitePruner, vacuumSqlite } from './sqlite/prune.ts';
import { openSqliteReader } from './sqlite/read-store.ts';
import type { Store, StoreReader } from './store.ts';

export type {
  ArmResults,
  CampaignResults,
  Conversion,
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

/** True for a database server's URL; anything else names a SQLite file. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/** The path of a SQLite file. SQLite alone reads `file:` as a URL: the lock and the log beside it would be another file's. */
const pathOf = (address: string): string => {
  if (address.startsWith('file:')) throw new Error('expected the path of a file, not a file: URL');
  return address;
};

/**
 * Opens a store by its address: a file path, `:memory:`, or a `postgres://` URL. The schema is created or brought
 * forward; a database that a newer Placard wrote is refused.
 */
export const openStore = (address: string): Promise<Store> =>
  isPostgres(address) ? openPostgresStore(address) : openSqliteStore(pathOf(address));

/** Opens a database that a service may be writing at this moment, for reading alone. */
export const openStoreReader = async (address: string): Promise<StoreReader> =>
  isPostgres(address) ? openPostgresReader(address) : openSqliteReader(pathOf(address));

/** Opens the Studio's tables of a database that a service may be using at this moment. */
export const openStudioStore = async (address: string): Promise<VisitedStudioStore> =>
  isPostgres(address) ? openPostgresStudioStore(address) : openSqliteStudioStore(pathOf(address));

/**
 * Deletes what happened before the moment, in every workspace, while a service may be using the database. Yields the rows
 * that each step has deleted. Events stay counted in the profiles and in `user_campaigns`.
 */
export async function* pruneStore(address: string, beforeMs: number): AsyncGenerator<Pruned, void> {
  const before = { events: beforeMs, bannerEvents: beforeMs };
  const reader = await openStoreReader(address);
  const pruner = isPostgres(address) ? await openPostgresPruner(address) : openSqlitePruner(pathOf(address));
  try {
    for (const workspaceId of await reader.workspaceIds()) {
      for (let after: number | null = 0; after !== null; ) {
        const step: Pruned = await pruner.prune(workspaceId, before, after);
        yield step;
        after = step.next;
      }
    }
  } finally {
    await pruner.close();
    await reader.close();
  }
}

/** Gives the room of deleted rows back to the disk, and what was in them is gone. Of SQLite no service may be using the file. */
export const vacuumStore = async (address: string): Promise<void> =>
  isPostgres(address) ? vacuumPostgres(address) : vacuumSqlite(pathOf(address));

/** Copies a SQLite file while a service writes it; `destination` must not exist. An abort rejects with its reason. */
export const backupStore = async (
  address: string,
  destination: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<void> => {
  if (isPostgres(address)) {
    throw new Error(
      'A PostgreSQL database is backed up with its own tools, such as pg_dump or a base backup',
    );
  }
  await backupSqlite(pathOf(address), pathOf(destination), signal);
};
