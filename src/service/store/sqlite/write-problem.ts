import { InDoubtError } from '../write-errors.ts';

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

/** SQLite's code for a sync that failed. The log is synced at the end of a commit, when all of it is written. */
const SQLITE_IOERR_FSYNC = 1034;

export const writeErrorOf = ({ message, ...facts }: WriteProblem): Error => {
  const error = Object.assign(new Error(`The database refused a write: ${message}`), facts);
  // Until the next commit writes over it, a start after a crash would find it in the log.
  return facts.errcode === SQLITE_IOERR_FSYNC
    ? new InDoubtError('The disk did not say what it stored', { cause: error })
    : error;
};

/** SQLite's codes for a value that a column does not take. */
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_TOOBIG = 18;

/** True where it was refused for what is in it. */
export const isRefusal = (error: unknown): boolean => {
  const { errcode } = error as { errcode?: number };
  // The lowest byte is the kind, the others say more.
  return (
    errcode !== undefined && [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].includes(errcode & 0xff)
  );
};
