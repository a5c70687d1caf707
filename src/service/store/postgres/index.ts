import { createResultReads } from '../../results/result-reads.ts';
import { POSTGRES } from '../../sql/dialect.ts';
import { withTimeout } from '../../with-timeout.ts';
import { createCommitQueue } from '../commit-queue.ts';
import { createRateWindows, leaseQuota } from '../rate-windows.ts';
import type { Store, StoreReader } from '../store.ts';
import { createEnsureWorkspace } from '../workspace-reads.ts';
import { TransientError } from '../write-errors.ts';
import { connect } from './connect.ts';
import { createPostgresGroups } from './groups.ts';
import { requireOwnSession } from './own-session.ts';
import { createPostgresParts } from './parts.ts';
import { createReader } from './reader.ts';
import { connectShared, createTables, isSharded } from './schema.ts';
import { createPoolRun, inTransaction } from './statement.ts';

/** A replica writes one group at a time. */
const WRITER_CONNECTIONS = 1;
/** Separate from the writer's, because a batch waits until other replicas have ended theirs. */
const RESULTS_CONNECTIONS = 1;
const READER_CONNECTIONS = 2;
/** Long-running tasks run one at a time. */
const UPKEEP_CONNECTIONS = 1;
/**
 * Maximum wait for writes in flight. After this time, writes are rejected, so that an unresponsive database cannot keep the
 * process from exiting.
 */
const DRAIN_MS = 5_000;

/** Opens a database read-only, while services may write to it. */
export const openPostgresReader = async (url: string): Promise<StoreReader> => {
  const { pool, close } = await connectShared(url, READER_CONNECTIONS);
  return { ...createReader(pool, pool).reads, close };
};

/** Creates the tables if they do not exist. Returns whether the database is sharded. */
const makeTables = async (url: string): Promise<boolean> => {
  const { pool, close } = connect(url, 'upkeep', { connections: 1 });
  try {
    await createTables(pool);
    return await isSharded(createPoolRun(pool));
  } finally {
    await close();
  }
};

/**
 * Opens the store for production. Any number of replicas may share a database, because they cache only data that the database can
 * invalidate or that may be lost.
 */
export const openPostgresStore = async (url: string): Promise<Store> => {
  await requireOwnSession(url);
  const sharded = await makeTables(url);
  const requests = connect(url, 'requests');
  const groups = connect(url, 'groups', { connections: WRITER_CONNECTIONS });
  const results = connect(url, 'groups', { connections: RESULTS_CONNECTIONS });
  const upkeep = connect(url, 'upkeep', { connections: UPKEEP_CONNECTIONS });
  const { pool } = requests;
  const closeAll = () => Promise.all([requests, groups, results, upkeep].map(({ close }) => close()));
  // Connects before readers use up the connections, and never releases the connections, because a replica that can read must be
  // able to write and count.
  await Promise.all([groups, results].map((each) => createPoolRun(each.pool)('SELECT 1'))).catch(
    async (error: unknown) => {
      await closeAll();
      throw error;
    },
  );
  const run = createPoolRun(pool);
  const reader = createReader(pool, upkeep.pool);
  const ensureWorkspace = createEnsureWorkspace(run);
  const groupWriter = createPostgresGroups(groups.pool, pool, sharded);
  const { addGoals, resultsConsumer, parts } = createPostgresParts({
    pool,
    resultsPool: results.pool,
    isSharded: sharded,
  });
  const queue = createCommitQueue({ ensureWorkspace, ...groupWriter });
  let isClosed = false;

  return {
    kind: sharded ? 'citus' : 'postgres',
    ...reader.reads,
    loadTargetingData: reader.loadTargetingData,
    ensureWorkspace,
    consumeRateLimit: createRateWindows(leaseQuota(run)),
    ...createResultReads({
      run,
      dialect: POSTGRES,
      addGoals,
      catchUp: resultsConsumer.catchUp,
      verify: reader.reads.verifyResults,
    }),
    ...parts,
    write: queue.write,
    onCommit: queue.onCommit,

    walBytes: () => null,

    async ping() {
      if (isClosed) throw new Error('The store is closed');
      if (queue.isShedding()) throw new TransientError('Writes are being rejected');
      // Fails if a write would fail, for example on a standby or a read-only database.
      await inTransaction(groups.pool, async (run) => {
        await run('UPDATE workspaces SET secret = secret WHERE false');
        await run('SELECT pg_current_xact_id()');
      });
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      await withTimeout(Promise.all([queue.close(), resultsConsumer.close()]), DRAIN_MS);
      // Rejects a write that still waits for a response.
      await closeAll();
    },
  };
};
