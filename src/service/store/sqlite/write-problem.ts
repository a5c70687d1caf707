import { InDoubtError, RetryLaterError } from '../write-errors.ts';

/**
 * Why a group was not stored, as it crosses from the writer's thread; `null` crosses where it was. A cloned error keeps
 * nothing but its message, and the log would not know a full disk from a broken one.
 */
export interface WriteProblem {
  message: string;
  code?: string;
  errcode?: number;
  errstr?: string;
}

export const writeProblemOf = (error: unknown): WriteProblem => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode, errstr } = error as Error & WriteProblem;
  return { message, ...(code !== undefined && { code, errcode, errstr }) } as WriteProblem;
};

/**
 * SQLite's codes for what a commit does when all of it is in the log: the sync failed, or the log's index could not grow.
 * Until the next commit writes over it, a start after a crash would find it there.
 */
const [FSYNC, SHMSIZE, SHMMAP] = [1034, 4874, 5386];
const WRITTEN = [FSYNC, SHMSIZE, SHMMAP];
/** Somebody else has held the file for longer than a commit waits. */
const SQLITE_BUSY = 5;

/** The lowest byte is the kind, the others say more. */
const kindOf = (errcode: number): number => errcode & 0xff;

export const writeErrorOf = ({ message, ...facts }: WriteProblem): Error => {
  const error = Object.assign(new Error(`The database refused a write: ${message}`), facts);
  const { errcode = 0 } = facts;
  if (WRITTEN.includes(errcode))
    return new InDoubtError('The disk did not say what it stored', { cause: error });
  return kindOf(errcode) === SQLITE_BUSY ? new RetryLaterError(error.message, { cause: error }) : error;
};

/** SQLite's codes for a value that a column does not take. */
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_TOOBIG = 18;

/** True where it was refused for what is in it. */
export const isRefusal = (error: unknown): boolean => {
  const { errcode } = error as { errcode?: number };
  return (
    errcode !== undefined && [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].includes(kindOf(errcode))
  );
};
