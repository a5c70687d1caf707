import { getErrorCode } from '../log.ts';

/** Nothing of the write was stored, and the same may go through in a moment. */
export class RetryLaterError extends Error {
  override name = 'RetryLaterError';
}

/** The write may be stored or not: the database did not say. Sent again, it could count twice. */
export class InDoubtError extends Error {
  override name = 'InDoubtError';
}

/** Another replica has written, or taken a key from, a user that a group has read. Nothing of the group was stored. */
export class ConflictError extends Error {
  override name = 'ConflictError';
}

/**
 * What a database says about the group that it did not store: the same goes through when it is sent again at once; later; never,
 * for what is in it; or it may be stored.
 */
type Verdict = 'again' | 'later' | 'refused' | 'in doubt';

/** How SQLSTATEs of PostgreSQL begin. */
const POSTGRES: [Verdict, RegExp][] = [
  // Unique violation, serialization failure, deadlock: another replica was faster.
  ['again', /^(23505|40001|40P01)/],
  // A lock was not free in time.
  ['later', /^55P03/],
  // A pooler lost its server, or the server says itself that it does not know.
  ['in doubt', /^(08|40003)/],
  // A cluster says XX000 of a value that one of its nodes has refused.
  ['refused', /^(22|23|54|XX000)/],
];

/** The kinds of SQLite's codes, which are their lowest bytes. */
const SQLITE: [Verdict, number[]][] = [
  // The disk refused to read, write or sync. Where that was the end of a commit, all of it may be in the log: until the next one
  // writes over it, a start after a crash would find it there.
  ['in doubt', [10]],
  // Another process has held the file for longer than a commit waits.
  ['later', [5]],
  // A value is too big, breaks a constraint or has another type.
  ['refused', [18, 19, 20]],
];

/** The kind of an error of SQLite, such as 5 for a lock that another connection holds; `null` of any other error. */
export const sqliteKindOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;

/** `null` of any other error, which is answered with 500. */
export const verdictOf = (error: unknown): Verdict | null => {
  if (error instanceof ConflictError) return 'again';
  const kind = sqliteKindOf(error);
  const found =
    kind === null
      ? POSTGRES.find(([, codes]) => codes.test(getErrorCode(error) ?? ''))
      : SQLITE.find(([, kinds]) => kinds.includes(kind));
  return found?.[0] ?? null;
};

/** Whether the database takes a part of the values and not the others. */
export const isRefused = (error: unknown): boolean => verdictOf(error) === 'refused';
