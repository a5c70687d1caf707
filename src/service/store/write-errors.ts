import { getErrorCode } from '../log.ts';

/** Thrown if nothing of the write was stored and a retry may succeed. */
export class TransientError extends Error {
  override name = 'TransientError';
}

/** Thrown if the outcome of the write is unknown. A retry could count the write twice. */
export class InDoubtError extends Error {
  override name = 'InDoubtError';
}

/** Thrown if another replica has changed a user that a group had read. Nothing of the group was stored. */
export class ConflictError extends Error {
  override name = 'ConflictError';
}

/**
 * Outcome of a retry: `retry` succeeds immediately, `transient` after a while, `rejected` never. After `unknown`, the write may
 * be stored.
 */
type WriteErrorClass = 'retry' | 'transient' | 'rejected' | 'unknown';

/** Classes by prefix of the SQLSTATE. */
const POSTGRES: [WriteErrorClass, RegExp][] = [
  // Unique violation, serialization failure or deadlock, caused by another replica.
  ['retry', /^(23505|40001|40P01)/],
  // Lock not available.
  ['transient', /^55P03/],
  // The pooler has lost its server, or the server does not know the outcome.
  ['unknown', /^(08|40003)/],
  // Citus reports XX000 if a node has rejected a value.
  ['rejected', /^(22|23|54|XX000)/],
];

/** Classes by primary result code. */
const SQLITE: [WriteErrorClass, number[]][] = [
  // I/O error. After a failed commit, the whole transaction may be in the log, and recovery may apply it until the next commit
  // overwrites it.
  ['unknown', [10]],
  // Busy, because another process has locked the file for longer than the busy timeout.
  ['transient', [5]],
  // Too big, constraint, mismatch.
  ['rejected', [18, 19, 20]],
];

/** Returns the primary result code of an SQLite error, such as 5 for SQLITE_BUSY; `null` for other errors. */
export const primaryResultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;

/** Returns the class of a write error; `null` for other errors, which cause a response with status 500. */
export const classifyWriteError = (error: unknown): WriteErrorClass | null => {
  if (error instanceof ConflictError) return 'retry';
  const kind = primaryResultCode(error);
  const found =
    kind === null
      ? POSTGRES.find(([, codes]) => codes.test(getErrorCode(error) ?? ''))
      : SQLITE.find(([, kinds]) => kinds.includes(kind));
  return found?.[0] ?? null;
};

/** Whether the database rejected some of the values. */
export const isRejected = (error: unknown): boolean => classifyWriteError(error) === 'rejected';
