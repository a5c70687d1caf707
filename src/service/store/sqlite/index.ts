import { realpathSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createUserIds } from '../../profiles/lookup.ts';
import { createResultReads } from '../../results/result-reads.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { createCommitQueue } from '../commit-queue.ts';
import { createRateWindows } from '../rate-windows.ts';
import type { Store, StoreReader } from '../store.ts';
import { createEnsureWorkspace } from '../workspace-reads.ts';
import { TransientError } from '../write-errors.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createSqliteGroups } from './groups.ts';
import { createJobs } from './jobs.ts';
import { acquireLock, assertNoStaleWal, createRunSqlite, createTables, openShared } from './open.ts';
import { createSqliteParts } from './parts.ts';
import { createReader } from './reader.ts';
import {
  createInlineWriter,
  NOTHING,
  type RemoteWriter,
  setForWriting,
  startWriterThread,
} from './writer.ts';

const IN_MEMORY = ':memory:';

/** Releases a resource of the store. */
type Release = () => void | Promise<void>;

/** Releases resources in reverse order. The file lock is released last, when this process no longer uses the file. */
const releaseAll = async (resources: Release[]): Promise<void> => {
  for (const release of resources.splice(0).reverse()) await release();
};

/** Opens a file read-only, while a service may write to it. */
export const openSqliteReader = (file: string): StoreReader => {
  const database = openShared(file, { readOnly: true });
  const jobs = createJobs(file, null);
  const close = async () => {
    await jobs.close();
    database.close();
  };
  return { ...createReader(database, jobs).reads, close };
};

/**
 * Opens the embedded store. One process owns the file. It reads the users of a group, applies the mutations, and sends the
 * changes to the writer thread. Closes everything if the file cannot be opened, because a running thread would keep the process
 * alive and the file locked.
 */
export const openSqliteStore = async (file: string): Promise<Store> => {
  const resources: Release[] = [];
  try {
    return await open(file, resources);
  } catch (error) {
    await releaseAll(resources);
    throw error;
  }
};

const open = async (file: string, resources: Release[]): Promise<Store> => {
  const inMemory = file === IN_MEMORY;
  if (!inMemory) {
    resources.push(acquireLock(file));
    assertNoStaleWal(file);
  }
  const database = new DatabaseSync(file);
  // The writer closes a database in memory.
  if (!inMemory) resources.push(() => database.close());
  createTables(database, file);
  setForWriting(database);
  const jobs = createJobs(file, inMemory ? database : null);
  const reader = createReader(database, jobs);
  let writer: RemoteWriter;
  if (inMemory) writer = createInlineWriter(database);
  else writer = await startWriterThread(file);
  resources.push(writer.close);
  const ids = createUserIds(reader.lastUserId());
  const ensureWorkspace = createEnsureWorkspace(writer.run);
  const queue = createCommitQueue({
    ensureWorkspace,
    writeGroup: createSqliteGroups(reader, writer, ids),
  });
  const checkpoints = createCheckpoints(file);
  resources.push(checkpoints.close);
  const { resultsConsumer, parts } = createSqliteParts(
    database,
    writer,
    inMemory ? undefined : checkpoints.checkpoint,
  );
  const wal = inMemory ? null : `${realpathSync(file)}-wal`;
  let isClosed = false;

  return {
    kind: 'sqlite',
    ...reader.reads,
    ensureWorkspace,
    write: queue.write,
    onCommit: queue.onCommit,

    loadTargetingData: reader.loadTargetingData,
    // One process owns the file, so it counts in memory and starts from zero after a restart.
    consumeRateLimit: createRateWindows(async ({ leased }, wanted) => leased + wanted),
    ...createResultReads({
      run: createRunSqlite(database),
      dialect: SQLITE,
      addGoals: writer.addGoals,
      catchUp: resultsConsumer.catchUp,
      verify: reader.reads.verifyResults,
    }),
    ...parts,

    walBytes: () => (wal === null ? null : (statSync(wal, { throwIfNoEntry: false })?.size ?? 0)),

    async ping() {
      if (queue.isShedding()) throw new TransientError('Writes are being rejected');
      await writer.write(NOTHING);
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await queue.close();
      await resultsConsumer.close();
      await jobs.close();
      await releaseAll(resources);
    },
  };
};
