import { DatabaseError } from 'pg';
import { InDoubtError, RetryLaterError } from '../write-errors.ts';

/** Another replica was faster: unique violation, serialization failure, deadlock. The same again will go through. */
const CONFLICTS = new Set(['23505', '40001', '40P01']);
/**
 * The statement was refused for what is in it: nothing of its transaction is stored. A cluster says XX000 of a value that
 * one of its nodes has refused.
 */
const REFUSALS = /^(22|23|54|XX000)/;

const MAX_ATTEMPTS = 12;
const BASE_DELAY_MS = 2;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Another replica has written, or taken a key from, a user that a group has read. */
export class ConflictError extends Error {
  override name = 'ConflictError';
}

export const isConflict = (error: unknown): boolean =>
  error instanceof ConflictError || CONFLICTS.has(codeOf(error));

/** A statement waited longer for a lock than it may: nothing of its transaction is stored. */
export const isLockedOut = (error: unknown): boolean => codeOf(error) === '55P03';

/** The server ends the connection, or it is in trouble, or it became a copy of another one and kept its connections. */
const ENDINGS = /^(08|25006|25P03|57P|58|XX)/;

/** False where a connection is of no more use, as after anything that is no answer of the database. */
export const isUsableAfter = (error: unknown): boolean =>
  error instanceof DatabaseError && !ENDINGS.test(codeOf(error));

/** A pooler lost its server, or the server says itself that it does not know. */
const UNTOLD = /^(08|40003)/;

/**
 * The error of what would store something by itself: without an answer of the database nobody knows whether it has.
 * A refused statement, or a connection that the server ended first, has stored nothing.
 */
export const orInDoubt = (error: unknown): unknown =>
  error instanceof DatabaseError && !UNTOLD.test(codeOf(error))
    ? error
    : new InDoubtError('The database did not answer: what it stored is not known', { cause: error });

export const isRefusal = (error: unknown): boolean => REFUSALS.test(codeOf(error));

/** Runs a transaction again while others are in its way; where they always are, nothing of it is stored. */
export const retryConflicts = async <T>(transact: (attempt: number) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === MAX_ATTEMPTS) {
        throw isRefusal(error)
          ? error
          : new RetryLaterError('Other writes were always faster', { cause: error });
      }
      await new Promise((resolve) =>
        setTimeout(resolve, Math.random() * BASE_DELAY_MS * 2 ** Math.min(attempt, 6)),
      );
    }
  }
};
