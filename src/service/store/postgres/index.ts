import { randomBytes } from 'node:crypto';
import type { Forgotten } from '../forgotten.ts';
import type { Commit, Store, StoreReader } from '../store.ts';
import { createBannerEventWriter } from './banner-events.ts';
import { connect } from './connect.ts';
import { dropPartitionsBefore, ensurePartitions } from './partitions.ts';
import { createRateLeases } from './rate-leases.ts';
import { createReader } from './reader.ts';
import { createRoster } from './roster.ts';
import { checkSchema, migrate } from './schema.ts';
import { createUserWriter, WRITER_CONNECTIONS } from './write-users.ts';

const READER_CONNECTIONS = 2;
const PARTITION_CHECK_MS = 6 * 60 * 60 * 1000;
const CLOSE_SECONDS = 5;

/** Opens a database for reading beside the services that write it. */
export const openPostgresReader = async (url: string): Promise<StoreReader> => {
  const sql = connect(url, 'exports', READER_CONNECTIONS);
  try {
    await checkSchema(sql);
  } catch (error) {
    await sql.end({ timeout: CLOSE_SECONDS });
    throw error;
  }
  return { ...createReader(sql).verbs, close: () => sql.end({ timeout: CLOSE_SECONDS }) };
};

/** Drops the partitions with events older than `beforeMs`. */
export const forgetPostgresEvents = async (
  url: string,
  beforeMs: number,
  dryRun: boolean,
): Promise<Forgotten[]> => {
  const sql = connect(url, 'exports', 1);
  try {
    await checkSchema(sql);
    return await dropPartitionsBefore(sql, beforeMs, dryRun);
  } finally {
    await sql.end({ timeout: CLOSE_SECONDS });
  }
};

/** The production store. Replicas keep nothing of their own: any number of them may share one database. */
export const openPostgresStore = async (url: string): Promise<Store> => {
  const sql = connect(url, 'requests');
  const batches = connect(url, 'batches', WRITER_CONNECTIONS);
  const pipe = connect(url, 'batches', 1);
  const end = () => Promise.all([sql, batches, pipe].map((each) => each.end({ timeout: CLOSE_SECONDS })));
  try {
    await migrate(sql);
    await ensurePartitions(sql, Date.now());
  } catch (error) {
    await end();
    throw error;
  }
  const reader = createReader(sql);
  let tell: (commit: Commit) => void = () => undefined;
  const users = createUserWriter(batches, pipe, (commit) => tell(commit));
  const bannerEvents = createBannerEventWriter(sql, (commit) => tell(commit));
  const takeRate = createRateLeases(sql);
  const secrets = new Map<string, Promise<string>>();
  let isClosed = false;

  const partitionTimer = setInterval(() => {
    // Where it fails, rows go to the default partition, and the next turn tries again.
    ensurePartitions(sql, Date.now()).catch(() => undefined);
  }, PARTITION_CHECK_MS);
  partitionTimer.unref();

  const readSecret = async (workspaceId: string): Promise<string> => {
    await sql`INSERT INTO secrets (workspace_id, secret)
      VALUES (${workspaceId}, ${randomBytes(32).toString('hex')}) ON CONFLICT DO NOTHING`;
    const [row] = await sql<{ secret: string }[]>`
      SELECT secret FROM secrets WHERE workspace_id = ${workspaceId}`;
    return row!.secret;
  };

  /** The row of a workspace's secret also says that the database holds data of it. */
  const secret = (workspaceId: string): Promise<string> => {
    const known = secrets.get(workspaceId);
    if (known) return known;
    const reading = readSecret(workspaceId);
    secrets.set(workspaceId, reading);
    reading.catch(() => secrets.delete(workspaceId));
    return reading;
  };

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
    secret,
    takeRate,
    roster: createRoster(sql),
    onCommit: (listener) => {
      tell = listener;
    },

    async writeUsers(work) {
      refuseClosed();
      return underWay(secret(work.workspaceId).then(() => users.write(work)));
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
      await underWay(secret(workspaceId).then(() => bannerEvents.record(workspaceId, events)));
    },

    async ping() {
      refuseClosed();
      // Fails on a database that is read-only, such as a standby.
      await sql.begin('READ WRITE', (transaction) => transaction`SELECT pg_current_xact_id()`);
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(partitionTimer);
      await Promise.allSettled(writing);
      await end();
    },
  };
};
