import { DatabaseSync } from 'node:sqlite';
import { createUserIds } from '../../../src/service/profiles/lookup.ts';
import { createCommitQueue } from '../../../src/service/store/commit-queue.ts';
import { createSqliteGroups } from '../../../src/service/store/sqlite/groups.ts';
import { createJobs } from '../../../src/service/store/sqlite/jobs.ts';
import { createTables } from '../../../src/service/store/sqlite/open.ts';
import { createReader } from '../../../src/service/store/sqlite/reader.ts';
import {
  createInlineWriter,
  type RemoteWriter,
  setForWriting,
} from '../../../src/service/store/sqlite/writer.ts';
import { getLookups, NOW, perform, type Step } from './steps.ts';

/** SQLite store without its thread, on a file or in memory, with a disk whose failures the test controls. */
export const anSqliteQueue = ({ file = ':memory:', maxCharacters = 1e6 } = {}) => {
  const database = new DatabaseSync(file);
  setForWriting(database);
  createTables(database, file);
  const reader = createReader(database, createJobs(file, database));
  const disk = { problem: null as string | null, commits: 0, isReady: Promise.resolve() };
  const inline = createInlineWriter(database);
  let rejectedCache: number | null | undefined;
  const committer: RemoteWriter = {
    async write(rows, cacheNumber) {
      const { problem } = disk;
      disk.commits += 1;
      // Simulates a slow write, so that other mutations arrive in the meantime.
      await new Promise(setImmediate);
      await disk.isReady;
      if (rejectedCache !== undefined && rejectedCache === cacheNumber) return false;
      if (problem === null) return inline.write(rows, cacheNumber);
      rejectedCache = cacheNumber;
      throw new Error(problem);
    },
    run: inline.run,
    runTogether: inline.runTogether,
    indexUserEvents: inline.indexUserEvents,
    advanceResults: inline.advanceResults,
    pruneEvents: inline.pruneEvents,
    addGoals: inline.addGoals,
    close: inline.close,
  };
  const queue = createCommitQueue({
    ensureWorkspace: async () => undefined,
    writeGroup: createSqliteGroups(reader, committer, createUserIds(reader.lastUserId()), maxCharacters),
  });
  return {
    database,
    reader: { ...reader.reads, close: async () => undefined },
    queue,
    disk,
    write: (each: Step) =>
      queue.write({
        workspaceId: 'demo',
        lookups: getLookups(each),
        nowMs: NOW,
        apply: (users) => perform(users, each),
      }),
  };
};
