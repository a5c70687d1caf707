import { DatabaseSync } from 'node:sqlite';
import type { StoreReader } from '../store.ts';
import { createReader, prepareForReading, type Reader } from './reader.ts';
import { checkVersion, SQLITE_VERSION } from './schema.ts';

export const readingVerbs = (reader: Reader): Omit<StoreReader, 'close'> => ({
  workspaceIds: async () => reader.workspaceIds(),
  readUsers: async (workspaceId, lookups) => reader.profiles(workspaceId, lookups),
  dataPoints: reader.dataPoints,
  exportUsers: reader.users,
  exportEvents: reader.events,
  exportBannerEvents: reader.bannerEvents,
});

/** Opens a file for reading beside the service that writes it. */
export const openSqliteReader = (file: string): StoreReader => {
  const database = new DatabaseSync(file, { readOnly: true });
  prepareForReading(database);
  if (checkVersion(database, file) < SQLITE_VERSION) {
    database.close();
    throw new Error(`${file} is of an older Placard: start the service once, which brings it forward`);
  }
  return { ...readingVerbs(createReader(database)), close: async () => database.close() };
};
