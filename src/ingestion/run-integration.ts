import type { IngestionRun, IngestionState, Source, Store, Workspace } from '../service/index.ts';
import { createBatchWriter, rejectIdForRow } from './batch.ts';
import { type EndedRun, RunTimeoutError } from './run-outcome.ts';
import { openSource } from './source.ts';
import { SourceError } from './source-error.ts';
import {
  formatPosition,
  hashRow,
  isAfter,
  type Position,
  type SourceRow,
  toStoredRow,
} from './source-row.ts';

interface RunOptions {
  store: Pick<Store, 'write' | 'ingestion'>;
  workspace: Workspace;
  source: Source;
  /** State when the lease was acquired. */
  state: IngestionState;
  run: IngestionRun;
  holdsLease(): Promise<boolean>;
  now(): number;
  signal: AbortSignal;
}

/** SQLSTATE class 22, whose messages quote the value. */
const DATA_EXCEPTION = /^22/;

/** Returns an error message with tables and columns but no row values, for operators without access to user data. */
const formatRunError = (error: unknown): string => {
  if (error instanceof SourceError) return error.sentence;
  if (error instanceof RunTimeoutError) return error.message;
  const { message, code }: { message?: unknown; code?: unknown } = Object(error);
  if (typeof code === 'string' && DATA_EXCEPTION.test(code)) {
    return `The source or the database failed: it cannot read a value of a row (SQLSTATE ${code})`;
  }
  return `The source or the database failed: ${message || code || 'no reason was given'}`;
};

/** Joins messages of a run into sentences; `null` if none. */
const joinMessages = (...messages: (string | null)[]): string | null => {
  const given = messages.filter((message) => message !== null);
  return given.length === 0 ? null : given.join('. ');
};

const formatStillRejected = (count: number): string =>
  count === 1 ? '1 row is still rejected' : `${count.toLocaleString('en-US')} rows are still rejected`;

const getStatus = ({ rowsSynced, rowsFailed }: IngestionRun): IngestionRun['status'] => {
  if (rowsFailed === 0) return 'success';
  return rowsSynced > 0 ? 'partial' : 'error';
};

const formatErased = (users: number): string =>
  users === 1 ? '1 user was erased' : `${users.toLocaleString('en-US')} users were erased`;

/**
 * Runs an integration once: first earlier rejects with their current values, then the rows after the watermark, then malformed
 * rows. Resolves with the ended run. If the run fails, stored rows stay, and the next run continues after them.
 */
export const runIntegration = async (options: RunOptions): Promise<EndedRun> => {
  const { store, workspace, source, state, run: startedRun, holdsLease, now, signal } = options;
  const { workspaceId, integrationId } = startedRun;
  const watermark = state.watermark;
  const lookbackUs = (source.lookback_seconds ?? 0) * 1_000_000;
  // Rows up to this time are not tracked individually, so they must not be read again.
  const dedupeSinceUs =
    lookbackUs === 0 ? null : (state.dedupeSinceUs ?? watermark?.timeUs ?? Number.MIN_SAFE_INTEGER);
  const after: Position | null =
    watermark && dedupeSinceUs !== null
      ? { timeUs: Math.max(watermark.timeUs - lookbackUs, dedupeSinceUs), sortKey: null }
      : watermark;

  const openRejects = await store.ingestion.openRejects(workspaceId, integrationId);
  const invalidRejects = new Map(
    openRejects.flatMap(({ kind, key, ...reject }) =>
      kind === 'invalid' && key !== null ? [[key, reject] as const] : [],
    ),
  );
  const earlierRows =
    after?.sortKey === null ? await store.ingestion.storedRows(workspaceId, integrationId, after.timeUs) : [];
  const storedRows = new Set(earlierRows.map((row) => JSON.stringify(row)));
  const batches = createBatchWriter({
    store,
    workspace,
    rowType: source.rows,
    run: startedRun,
    watermark,
    dedupeSinceUs,
    lookbackUs,
    storedRows: earlierRows,
    openRejects: new Map(openRejects.map((reject) => [reject.rejectId, reject])),
    holdsLease,
    now,
  });
  try {
    const snapshot = await openSource(source, {
      after,
      invalidKeys: [...invalidRejects.keys()],
      malformedRejectIds: openRejects.flatMap(({ kind, rejectId }) =>
        kind === 'malformed' ? [rejectId] : [],
      ),
      nowMs: now(),
      signal,
    });
    try {
      /** Keys of rejects whose row is no longer in the source. */
      const missing = new Set(invalidRejects.keys());
      /** Positions of retried rows that `rows` returns, too. */
      const retried = new Set<string>();
      for await (const row of snapshot.retryRows()) {
        if (isAfter(row, watermark)) continue;
        if (isAfter(row, after)) retried.add(formatPosition(row));
        if (!isStored(row)) await add(row, missing);
      }
      for await (const row of snapshot.rows()) {
        if (isAfter(row, watermark) || !(retried.has(formatPosition(row)) || isStored(row)))
          await add(row, missing);
      }
      for await (const row of snapshot.malformed()) {
        signal.throwIfAborted();
        if (row.key !== null) missing.delete(row.key);
        await batches.reject(row);
      }
      for (const key of missing) await batches.closeReject(rejectIdForRow(key));
      await batches.flush();
      await store.ingestion.closeMalformedRejects(startedRun);
      return toEndedRun(snapshot.message);
    } finally {
      await snapshot.close();
    }
  } catch (error) {
    // If the signal interrupted a statement, the signal's reason is the cause, not the statement's error.
    const cause = signal.aborted ? signal.reason : error;
    const isTimeout = cause instanceof RunTimeoutError;
    const { rowsSynced, rowsFailed } = batches.run();
    if (isTimeout && rowsSynced + rowsFailed > 0) return toEndedRun(cause.message);
    const failure = isTimeout ? 'timeout' : 'source';
    return {
      ...batches.run(),
      status: 'error',
      message: formatRunError(cause),
      failure,
      finishedAtMs: now(),
    };
  }

  /** Returns the ended run with the counts of stored rows. */
  function toEndedRun(message: string | null): EndedRun {
    const run = batches.run();
    const status = getStatus(run);
    const still = batches.stillRejected();
    const rejected =
      status === 'error'
        ? 'Every row that it read is rejected'
        : still > 0
          ? formatStillRejected(still)
          : null;
    const failure = status === 'error' ? 'rejects' : null;
    const isErasure = source.rows === 'deletes' && run.rowsSynced > 0;
    const erased = isErasure ? formatErased(batches.erasedUsers()) : null;
    return { ...run, status, message: joinMessages(message, erased, rejected), failure, finishedAtMs: now() };
  }

  /** Returns whether a row up to the watermark is stored: within the lookback one by one, otherwise unless rejected. */
  function isStored(row: SourceRow): boolean {
    if (row.rejectId !== null) return false;
    const reject = invalidRejects.get(row.key);
    const rejectedUs = reject?.updatedAtUs ?? Number.POSITIVE_INFINITY;
    if (reject && row.timeUs === rejectedUs) return reject.storedRows.includes(hashRow(row));
    return (
      storedRows.has(JSON.stringify(toStoredRow(row, source.rows))) ||
      (row.timeUs < rejectedUs && !isAfter(row, after))
    );
  }

  async function add(row: SourceRow, missing: Set<string>) {
    signal.throwIfAborted();
    const rejectedUs = invalidRejects.get(row.key)?.updatedAtUs;
    if (rejectedUs != null && row.timeUs >= rejectedUs) missing.delete(row.key);
    await batches.add(row);
  }
};
