import { createIngestionStore } from '../integrations/ingestion-store.ts';
import type { IngestionStore } from '../integrations/records.ts';
import { createStudioStore, type RunSql, type StudioStore } from '../operators/index.ts';
import { type Dialect, POSTGRES, SQLITE } from './dialect.ts';
import { connectBeside } from './postgres/schema.ts';
import { runIn } from './postgres/statement.ts';
import { createPrune } from './prune.ts';
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
