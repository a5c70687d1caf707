import type { StoreReader } from '../store.ts';
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
  return { ...createReader(database).verbs, close: async () => database.close() };
};
