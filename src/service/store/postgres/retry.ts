import { setTimeout as pause } from 'node:timers/promises';
import { verdictOf } from '../error-codes.ts';
import { RetryLaterError } from '../write-errors.ts';

const MAX_ATTEMPTS = 12;
const BASE_DELAY_MS = 2;

/**
 * Runs a transaction again while others are in its way; where they always are, or where it has waited twice for what they
 * have locked, nothing of it is stored.
 */
export const retryConflicts = async <T>(transact: (attempt: number) => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(attempt);
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict !== 'again' && verdict !== 'later') throw error;
      if (attempt === (verdict === 'later' ? 2 : MAX_ATTEMPTS)) {
        throw new RetryLaterError('Other writes come first', { cause: error });
      }
      await pause(Math.random() * BASE_DELAY_MS * 2 ** Math.min(attempt, 6));
    }
  }
};
