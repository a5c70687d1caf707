import { DatabaseSync } from 'node:sqlite';
import { createIngestionStore } from '../../integrations/ingestion-store.ts';
import { createUserIds } from '../../profiles/lookup.ts';
import { createFollower } from '../../results/follow.ts';
import { SQLITE_RESULTS } from '../../results/statements.ts';
import { createResults } from '../../results/store.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { createWebhookStore } from '../../webhooks/records.ts';
import { createCommitQueue } from '../commit-queue.ts';
import { createFeed } from '../feed.ts';
import { createFindExpiredStubs, createPrune } from '../prune.ts';
import { createRateWindows } from '../rate-windows.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import type { Store, StoreReader } from '../store.ts';
import { createStudioStore } from '../studio-store.ts';
import { createSecrets } from '../workspace-reads.ts';
import { TransientError } from '../write-errors.ts';
import { createJobs } from './jobs.ts';
import {
  acquireLock,
  assertNoStaleWal,
  createRunSqlite,
  createSendSqlite,
  createTables,
  openAttached,
} from './open.ts';
import { createReader } from './reader.ts';
import { createSqliteGroups } from './write-group.ts';
import {
  createInlineWriter,
  NOTHING,
  type RemoteWriter,
  setForWriting,
  startWriterThread,
} from './writer.ts';

const IN_MEMORY = ':memory:';

/** Gives back a part of what the store holds open. */
type Release = () => void | Promise<void>;

/** The latest first: the claim goes once nothing of this process is on the file any more. */
const releaseAll = async (held: Release[]): Promise<void> => {
  for (const release of held.splice(0).reverse()) await release();
};

/** Opens a file for reading beside the service that writes it. */
export const openSqliteReader = (file: string): StoreReader => {
  const database = openAttached(file, { readOnly: true });
  const jobs = createJobs(file, null);
  const close = async () => {
    await jobs.close();
    database.close();
  };
  return { ...createReader(database, jobs).reads, close };
};

/**
 * The embedded store. One process owns the file: it reads the users of a group, applies the works, and hands what has
 * changed to the writer's thread. Where the file cannot be opened, nothing of it stays open: a thread that went on would keep
 * the process, and the claim on the file.
 */
export const openSqliteStore = async (file: string): Promise<Store> => {
  const held: Release[] = [];
  try {
    return await open(file, held);
  } catch (error) {
    await releaseAll(held);
    throw error;
  }
};

const open = async (file: string, held: Release[]): Promise<Store> => {
  const inMemory = file === IN_MEMORY;
  if (!inMemory) {
    held.push(acquireLock(file));
    assertNoStaleWal(file);
  }
  const database = new DatabaseSync(file);
  // A database in memory belongs to its writer.
  if (!inMemory) held.push(() => database.close());
  createTables(database, file);
  setForWriting(database);
  const jobs = createJobs(file, inMemory ? database : null);
  const reader = createReader(database, jobs);
  let writer: RemoteWriter;
  if (inMemory) writer = createInlineWriter(database);
  else writer = await startWriterThread(file);
  held.push(writer.close);
  const ids = createUserIds(reader.lastUserId());
  const secret = createSecrets(writer.run);
  const queue = createCommitQueue({
    // Its row is what lists the workspaces of a database.
    register: secret,
    writeGroup: createSqliteGroups(reader, writer, ids),
    maxConcurrentGroups: 2,
  });
  // One connection writes: what is visible is settled.
  const settled = () => ({ through: null, atMs: Date.now() });
  const follower = createFollower({ settle: settled, advance: () => writer.advanceResults() });
  let isClosed = false;

  return {
    kind: 'sqlite',
    ...reader.reads,
    secret,
    write: queue.write,
    onCommit: queue.onCommit,

    loadTargetingData: reader.loadTargetingData,
    // One process owns the file, so that it counts in memory, and begins anew when it starts again.
    consumeRateLimit: createRateWindows(async ({ taken }, wanted) => taken + wanted),
    // Between two commits: beside them it would wait for their locks, and they for its.
    prune: createPrune({ run: writer.run, dialect: SQLITE, catchUp: follower.catchUp }),
    expiredStubUsers: createFindExpiredStubs(createRunSqlite(database), SQLITE),
    ...createResults({
      run: createRunSqlite(database),
      addGoals: writer.addGoals,
      catchUp: follower.catchUp,
      verify: reader.reads.verifyResults,
    }),
    ...createFeed({
      send: createSendSqlite(database),
      statements: SQLITE_STATEMENTS,
      results: SQLITE_RESULTS,
      indexEvents: writer.indexEvents,
      settle: settled,
    }),
    studio: createStudioStore(writer.run, writer.runTogether),
    ingestion: createIngestionStore(writer.run),
    webhooks: createWebhookStore(writer.run),

    async ping() {
      if (queue.isShedding()) throw new TransientError('Writes are being refused');
      await writer.write(NOTHING);
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await queue.close();
      await follower.close();
      await jobs.close();
      await releaseAll(held);
    },
  };
};
