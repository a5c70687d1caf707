import { openPostgresReader, openPostgresStore } from './postgres/index.ts';
import { openSqliteReader, openSqliteStore } from './sqlite/index.ts';
import type { Store, StoreReader } from './store.ts';

export type {
  BannerEventRow,
  BannerUser,
  Dismissal,
  RateRule,
  RateState,
  Store,
  StoredEvent,
  StoreReader,
  UserWork,
} from './store.ts';

/** True for a database server's URL; anything else names a SQLite file. */
export const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/**
 * Opens a store by its address: a file path, `:memory:`, or a `postgres://` URL. The schema is created or brought
 * forward; a database that a newer Placard wrote is refused.
 */
export const openStore = (address: string): Promise<Store> =>
  isPostgres(address) ? openPostgresStore(address) : openSqliteStore(address);

/** Opens a database that a service may be writing at this moment, for reading alone. */
export const openStoreReader = async (address: string): Promise<StoreReader> =>
  isPostgres(address) ? openPostgresReader(address) : openSqliteReader(address);
