import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { mapKeys } from '../../../protocol/index.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { emptyChangeSet } from '../../profiles/user-repository.ts';
import { addGoals, advanceResults, type BatchResult, type GoalsToAdd } from '../../results/advance.ts';
import { createBatchSizer } from '../../results/batch-size.ts';
import { type PrunedEvents, pruneEvents } from '../../results/prune-events.ts';
import { type EventRange, SQLITE_RESULTS } from '../../results/statements.ts';
import { query, SQLITE } from '../../sql/dialect.ts';
import type { FeedCursor } from '../../sql/feed.ts';
import type { SqlValue } from '../../sql/row-readers.ts';
import { runStepsSync } from '../../sql/steps.ts';
import { commitGroup, type GroupWrites, toGroupWrites } from '../commit-group.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import { classifyWriteError, InDoubtError, TransientError } from '../write-errors.ts';
import { BUSY_MS, createRunTogetherSqlite, createSendSqlite, inTransaction } from './open.ts';

/**
 * Number of pages in the write-ahead log that triggers a checkpoint (64 MiB). A large log copies frequently changed pages less
 * often.
 */
export const CHECKPOINT_PAGES = 16_384;
const LOG_LIMIT_BYTES = 64 * 1024 * 1024;
/** Limits of the number of events that are added to `user_events` at once. Larger batches share more pages. */
const INDEX_BATCH = { min: 2_048, max: 32_768 };
/** Maximum CPU time of such a batch, because the next write waits for it. */
const INDEX_BATCH_MS = 50;
const CACHE_KIB = 64 * 1024;

export const setForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit, so that acknowledged writes survive a power failure, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  // A long reader lets the log grow. After it ends, the next checkpoint truncates the log.
  database.exec(`PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

export const NOTHING: GroupWrites = toGroupWrites(SQLITE_STATEMENTS, emptyChangeSet());

/** Writes in transactions. A transaction that throws stores nothing. */
export const createWriter = (database: DatabaseSync) => {
  const send = createSendSqlite(database);
  const batchSizer = createBatchSizer();
  let indexBatch = INDEX_BATCH.max;
  /** Number of events that are not in `user_events` yet. */
  let unindexed = 0;
  let rejectedCache: number | null = null;

  /** Runs a transaction without syncing it to disk. After a power failure, a cursor and its effect are equally old. */
  const runUnsynced = <T>(work: () => T): T => {
    database.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${2 * CHECKPOINT_PAGES}`);
    try {
      return inTransaction(database, work);
    } finally {
      database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
  };

  /** Adds events to `user_events`, and adapts the size of the next batch to the CPU time. */
  const indexUserEvents = (): void => {
    const startedMs = cpuTimeMs();
    runUnsynced(() => SQLITE.indexUserEvents.map(send));
    const ms = cpuTimeMs() - startedMs;
    if (ms > INDEX_BATCH_MS) indexBatch = Math.max(INDEX_BATCH.min, indexBatch / 2);
    else if (unindexed >= indexBatch && ms < INDEX_BATCH_MS / 2)
      indexBatch = Math.min(INDEX_BATCH.max, indexBatch * 2);
    unindexed = 0;
  };

  return {
    run: (sql: string, values: SqlValue[]) => send(query(sql, ...values)),

    runTogether: createRunTogetherSqlite(database),

    /**
     * Writes a group. `cacheNumber` is the number of the cache of users that it was applied to. Returns `false` and writes nothing
     * if a group of the same cache was rejected.
     */
    write(group: GroupWrites, cacheNumber: number | null = null): boolean {
      if (cacheNumber !== null && cacheNumber === rejectedCache) return false;
      try {
        if (unindexed >= indexBatch) indexUserEvents();
        inTransaction(database, () => runStepsSync(commitGroup(SQLITE_STATEMENTS, group), send));
      } catch (error) {
        // A health check, which has no cache, must not let later groups of a rejected cache pass.
        rejectedCache = cacheNumber ?? rejectedCache;
        throw error;
      }
      unindexed += group.events.executions;
      return true;
    },

    indexUserEvents,

    /** Runs a batch. Other writes run between two batches and wait for one of them. The caller checkpoints the log between batches. */
    advanceResults(through: FeedCursor): BatchResult {
      const startedMs = cpuTimeMs();
      try {
        return runUnsynced(() =>
          runStepsSync(advanceResults(SQLITE_RESULTS, through, batchSizer.limits()), send),
        );
      } finally {
        batchSizer.report(cpuTimeMs() - startedMs);
      }
    },

    pruneEvents: (range: EventRange): PrunedEvents =>
      inTransaction(database, () => runStepsSync(pruneEvents(SQLITE_RESULTS, range), send)),

    addGoals: (added: GoalsToAdd): void =>
      inTransaction(database, () => runStepsSync(addGoals(SQLITE_RESULTS, added), send)),
  };
};

export type Writer = ReturnType<typeof createWriter>;

/** Call of a writer method. */
export interface WriterMessage {
  method: keyof Writer;
  args: readonly unknown[];
}

export const callWriter = (writer: Writer, message: WriterMessage): unknown =>
  Reflect.apply(writer[message.method], writer, message.args);

export type WriterResponse = { problem: WriteProblem } | { value: unknown };

/** Returns the URL of a thread's file, which is beside this file in the source, and in `dist/` in a build. */
export const threadUrl = (name: 'checkpoint' | 'job' | 'writer'): URL => {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? `./${name}-thread.ts` : `./sqlite-${name}.js`, here);
};

/**
 * Reason that a group was not stored, with SQLite's error codes, for transfer from the writer thread. A cloned error keeps only
 * its message, so the log could not distinguish a full disk from a corrupt one.
 */
export interface WriteProblem {
  message: string;
}

export const toWriteProblem = (error: unknown): WriteProblem =>
  error instanceof Error ? { ...error, message: error.message } : { message: String(error) };

export const toWriteError = ({ message, ...facts }: WriteProblem): Error => {
  const error = Object.assign(new Error(`The database rejected a write: ${message}`), facts);
  const errorClass = classifyWriteError(error);
  if (errorClass === 'unknown') return new InDoubtError('Disk write with unknown outcome', { cause: error });
  return errorClass === 'transient' ? new TransientError(error.message, { cause: error }) : error;
};

/** Proxy of the only writing connection. A write that resolves is durable. */
export type RemoteWriter = {
  [Method in keyof Writer]: (...args: Parameters<Writer[Method]>) => Promise<ReturnType<Writer[Method]>>;
} & { close(): Promise<void> };

const METHODS = [
  'write',
  'run',
  'runTogether',
  'indexUserEvents',
  'advanceResults',
  'pruneEvents',
  'addGoals',
] as const;

const toRemoteWriter = (
  call: (message: WriterMessage) => Promise<unknown>,
  close: () => Promise<void>,
): RemoteWriter => {
  const methods: Record<keyof Writer, unknown> = mapKeys(METHODS, (method) => {
    return (...args: unknown[]) => call({ method, args });
  });
  return { ...methods, close } as RemoteWriter;
};

/** Starts the writer on its own thread, so that disk access does not block the main thread. */
export const startWriterThread = async (
  file: string,
  thread = new Worker(threadUrl('writer'), { workerData: file }),
): Promise<RemoteWriter> => {
  /** Calls in flight, in order. */
  const pendingCalls: { resolve(value: unknown): void; reject(error: Error): void }[] = [];
  let threadError: Error | null = null;
  await new Promise<void>((resolve, reject) => {
    thread.once('online', resolve);
    thread.once('error', reject);
  });
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const fail = (error: Error) => {
    threadError ??= error;
    const inDoubt = new InDoubtError('Write with unknown outcome', { cause: error });
    for (const { reject } of pendingCalls.splice(0)) reject(inDoubt);
  };
  thread.on('error', fail);
  thread.once('exit', () => fail(new Error('The thread that writes the database has ended')));
  thread.on('message', (response: WriterResponse) => {
    const first = pendingCalls.shift();
    if ('problem' in response) first?.reject(toWriteError(response.problem));
    else first?.resolve(response.value);
  });
  return toRemoteWriter(
    (message) =>
      new Promise((resolve, reject) => {
        if (threadError) throw threadError;
        thread.postMessage(message);
        pendingCalls.push({ resolve, reject });
      }),
    async () => {
      if (threadError === null) thread.postMessage('close');
      await exited;
    },
  );
};

/** Creates a writer on this thread, for example for a database in memory, which only its own connection can access. */
export const createInlineWriter = (database: DatabaseSync): RemoteWriter => {
  const writer = createWriter(database);
  return toRemoteWriter(
    async (message) => callWriter(writer, message),
    async () => database.close(),
  );
};
