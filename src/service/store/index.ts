import type { Forgotten } from './forgotten.ts';
import { forgetPostgresEvents, openPostgresReader, openPostgresStore } from './postgres/index.ts';
import { backupSqlite } from './sqlite/backup.ts';
import { forgetSqliteEvents } from './sqlite/forget.ts';
import { openSqliteStore } from './sqlite/index.ts';
import { openSqliteReader } from './sqlite/read-store.ts';
import type { Store, StoreReader } from './store.ts';
import {
  openPostgresStudioStore,
  openSqliteStudioStore,
  type VisitedStudioStore,
} from './studio/open-studio-store.ts';

export type { StoredEvent } from '../profiles/stored-event.ts';
export { type Forgotten, WHAT_IS_FORGOTTEN } from './forgotten.ts';
export type {
  BannerEventRow,
  BannerUser,
  Commit,
  Dismissal,
  NewBannerEvent,
  RateRule,
  RateState,
  Store,
  StoreReader,
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

/**
 * Drops events, purchases and banner events older than `beforeMs`, while services run: whole partitions of PostgreSQL,
 * rows of SQLite. With `dryRun` it only counts.
 */
export const forgetEvents = async (
  address: string,
  beforeMs: number,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<Forgotten[]> =>
  isPostgres(address)
    ? forgetPostgresEvents(address, beforeMs, dryRun)
    : forgetSqliteEvents(pathOf(address), beforeMs, dryRun);
