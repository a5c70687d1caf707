import { createStudioStore, type StudioStore } from '../operators/index.ts';
import { connect } from './postgres/connect.ts';
import { checkSchema } from './postgres/schema.ts';
import { runIn } from './postgres/statement.ts';
import { openExisting } from './sqlite/open-existing.ts';
import { createRunSqlite } from './sqlite/run.ts';
import { checkIsCurrent } from './sqlite/schema.ts';

const BUSY_MS = 10_000;

/** The Studio's tables alone, beside a service that may be running on them. */
export interface VisitedStudioStore {
  studio: StudioStore;
  close(): Promise<void>;
}

export const openSqliteStudioStore = (file: string): VisitedStudioStore => {
  const database = openExisting(file, { readOnly: false });
  try {
    checkIsCurrent(database, file);
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  } catch (error) {
    database.close();
    throw error;
  }
  return { studio: createStudioStore(createRunSqlite(database)), close: async () => database.close() };
};

export const openPostgresStudioStore = async (url: string): Promise<VisitedStudioStore> => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  try {
    await checkSchema(pool);
  } catch (error) {
    await close();
    throw error;
  }
  return { studio: createStudioStore(runIn(pool)), close };
};
