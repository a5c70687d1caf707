import type { StoreReader } from '../store.ts';
import { createJobs } from './jobs.ts';
import { openExisting } from './open-existing.ts';
import { createReader, prepareForReading } from './reader.ts';
import { checkIsCurrent } from './schema.ts';

/** Opens a file for reading beside the service that writes it. */
export const openSqliteReader = (file: string): StoreReader => {
  const database = openExisting(file, { readOnly: true });
  try {
    prepareForReading(database);
    checkIsCurrent(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
  const jobs = createJobs(file, null);
  const close = async () => {
    await jobs.close();
    database.close();
  };
  return { ...createReader(database, jobs).verbs, close };
};
