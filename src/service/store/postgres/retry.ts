import { setTimeout as pause } from 'node:timers/promises';
import { verdictOf } from '../error-codes.ts';
import { RetryLaterError } from '../write-errors.ts';

const MAX_ATTEMPTS = 12;
/** For what others have locked. */
const MAX_WAITS = 2;
const BASE_DELAY_MS = 2;

/**
 * Runs a transaction again while others are in its way; where they always are, or where it has waited twice for what they
 * have locked, nothing of it is stored.
 */
export const retryConflicts = async <T>(transact: (attempt: number) => Promise<T>): Promise<T> => {
  let waits = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict !== 'again' && verdict !== 'later') throw error;
      if (verdict === 'later') waits += 1;
      if (attempt >= MAX_ATTEMPTS || waits >= MAX_WAITS) {
        throw new RetryLaterError('Other writes come first', { cause: error });
      }
      await pause(Math.random() * BASE_DELAY_MS * 2 ** Math.min(attempt, 6));
    }
  }
};
