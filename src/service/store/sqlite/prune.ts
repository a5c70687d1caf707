import type { DatabaseSync } from 'node:sqlite';
import { type PruneBefore, type Pruned, pruneStep } from '../prune.ts';
import { claimFile } from './claim.ts';
import { openExisting } from './open-existing.ts';
import { prepareForReading } from './reader.ts';
import { createRunSqlite } from './run.ts';

export const pruneSqlite = (
  database: DatabaseSync,
  workspaceId: string,
  before: PruneBefore,
  after: number,
): Promise<Pruned> => pruneStep(createRunSqlite(database), '$4', { workspaceId, before, after });

/** A connection beside the service's. */
export const openSqlitePruner = (file: string) => {
  const database = openExisting(file, { readOnly: false });
  prepareForReading(database);
  return {
    prune: (...what: [workspaceId: string, before: PruneBefore, after: number]) =>
      pruneSqlite(database, ...what),
    close: async () => database.close(),
  };
};

/** Writes the file anew, without what was deleted. No service may be using it. */
export const vacuumSqlite = (file: string): void => {
  const release = claimFile(file);
  try {
    const database = openExisting(file, { readOnly: false });
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
