import type { StoreReader } from '../store.ts';
import { openExisting } from './open-existing.ts';
import { createReader, prepareForReading, type Reader } from './reader.ts';
import { checkIsCurrent } from './schema.ts';

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
  const database = openExisting(file, { readOnly: true });
  try {
    prepareForReading(database);
    checkIsCurrent(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
  return { ...readingVerbs(createReader(database)), close: async () => database.close() };
};
