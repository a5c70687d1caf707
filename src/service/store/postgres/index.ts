import { inTime } from '../../in-time.ts';
import type { Forgotten } from '../forgotten.ts';
import type { Commit, Store, StoreReader } from '../store.ts';
import { createStudioStore } from '../studio/create-studio-store.ts';
import { NotNowError } from '../write-errors.ts';
import { createBannerEventWriter } from './banner-events.ts';
import { connect } from './connect.ts';
import { fillPool } from './fill-pool.ts';
import { dropPartitionsBefore, ensurePartitions } from './partitions.ts';
import { createPipe } from './pipe.ts';
import { createRateLeases } from './rate-leases.ts';
import { createReader } from './reader.ts';
import { orInDoubt } from './retry.ts';
import { createRoster } from './roster.ts';
import { checkSchema, migrate } from './schema.ts';
import { createSecrets } from './secrets.ts';
import { runIn } from './statement.ts';
import { inTransaction } from './transaction.ts';
import { createUserWriter, WRITER_CONNECTIONS } from './write-users.ts';

const READER_CONNECTIONS = 2;
/** For writes to end; beyond it they are refused, and a database that is silent keeps nobody from ending. */
const DRAIN_MS = 5_000;
const PARTITION_CHECK_MS = 6 * 60 * 60 * 1000;

/** Opens a database for reading beside the services that write it. */
export const openPostgresReader = async (url: string): Promise<StoreReader> => {
  const { pool, close } = connect(url, 'upkeep', { connections: READER_CONNECTIONS });
  try {
    await checkSchema(pool);
  } catch (error) {
    await close();
    throw error;
  }
  return { ...createReader(pool).verbs, close };
};

/** Drops the partitions with events older than `beforeMs`. */
export const forgetPostgresEvents = async (
  url: string,
  beforeMs: number,
  dryRun: boolean,
): Promise<Forgotten[]> => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  try {
    await checkSchema(pool);
    return await dropPartitionsBefore(pool, beforeMs, dryRun);
  } finally {
    await close();
  }
};

/** Makes the database what this version needs. */
const bringForward = async (url: string): Promise<void> => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  try {
    await migrate(pool);
    await ensurePartitions(pool, Date.now());
  } finally {
    await close();
  }
};

/** The production store. Replicas keep nothing of their own: any number of them may share one database. */
export const openPostgresStore = async (url: string): Promise<Store> => {
  await bringForward(url);
  const requests = connect(url, 'requests');
  const batches = connect(url, 'batches', { connections: WRITER_CONNECTIONS });
  const { pool } = requests;
  const closeBoth = () => Promise.all([requests.close(), batches.close()]);
  // Before readers take the room: a replica that can read must be able to write.
  await fillPool(batches.pool).catch(async (error: unknown) => {
    await closeBoth();
    throw error;
  });
  const run = runIn(pool);
  const pipe = createPipe(batches.pool);
  const reader = createReader(pool);
  let tell: (commit: Commit) => void = () => undefined;
  const users = createUserWriter(batches.pool, pipe.run, (commit) => tell(commit));
  const bannerEvents = createBannerEventWriter(runIn(pool, orInDoubt), (commit) => tell(commit));
  const takeRate = createRateLeases(run);
  const secrets = createSecrets(run);
  let isClosed = false;

  const partitionTimer = setInterval(() => {
    // Where it fails, rows go to the default partition, and the next turn tries again.
    ensurePartitions(pool, Date.now()).catch(() => undefined);
  }, PARTITION_CHECK_MS);
  partitionTimer.unref();

  const refuseClosed = () => {
    if (isClosed) throw new Error('The store is closed');
  };

  /** Writes that a close must wait for. */
  const writing = new Set<Promise<unknown>>();
  const underWay = async <T>(write: Promise<T>): Promise<T> => {
    writing.add(write);
    try {
      return await write;
    } finally {
      writing.delete(write);
    }
  };

  return {
    kind: 'postgres',
    ...reader.verbs,
    secret: secrets.of,
    takeRate,
    studio: createStudioStore(run),
    roster: createRoster(run),
    onCommit: (listener) => {
      tell = listener;
    },

    async writeUsers(work) {
      refuseClosed();
      return underWay(secrets.of(work.workspaceId).then(() => users.write(work)));
    },

    async bannerUser(workspaceId, externalUserId) {
      const [[profile], dismissals] = await Promise.all([
        reader.profiles(workspaceId, [{ by: 'external_id', value: externalUserId }]),
        reader.dismissals(workspaceId, externalUserId),
      ]);
      return { profile: profile ?? null, dismissals };
    },

    async recordBannerEvents(workspaceId, events) {
      refuseClosed();
      if (events.length === 0) return;
      await underWay(secrets.of(workspaceId).then(() => bannerEvents.record(workspaceId, events)));
    },

    async ping() {
      refuseClosed();
      if (users.isRefusing() || bannerEvents.isRefusing()) throw new NotNowError('Writes are being refused');
      await fillPool(batches.pool);
      // Fails where a write would: on a standby, and on a database that is read-only, if only by default.
      await inTransaction(pool, async (run) => {
        await run('UPDATE secrets SET secret = secret WHERE false');
        await run('SELECT pg_current_xact_id()');
      });
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(partitionTimer);
      await inTime(Promise.allSettled(writing), DRAIN_MS);
      // Whoever still waits for a connection is refused now.
      pipe.close();
      await closeBoth();
    },
  };
};
