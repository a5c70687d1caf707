import type { FeedCursor } from '../sql/feed.ts';
import type { BatchResult } from './advance.ts';

/** Stable part of the feed, in which no open transaction can store a row. */
export interface StableFeed {
  /** Cursor of the last stable rows. */
  through: FeedCursor;
  /** Whether all rows stored before the call are included. */
  isCurrent: boolean;
}

interface ConsumerOptions {
  readStableFeed(): Promise<StableFeed>;
  /** Returns the time of the first row that is not counted, in Unix milliseconds; `null` if all are. */
  readUncountedMs(): Promise<number | null>;
  advance(through: FeedCursor): Promise<BatchResult>;
}

/** Progress of the results consumer. */
export interface Progress {
  /** Time before which all stored rows are counted, in Unix milliseconds. */
  asOfMs: number;
  /** Whether all rows stored before the call are counted. */
  isCaughtUp: boolean;
}

/** Maximum duration of one call. */
const BUDGET_MS = 2_000;

export interface ResultsConsumer {
  /**
   * Catches up with the feed, for at most two seconds. Calls during a run share the next run, so that rows stored before a call
   * are counted when it resolves with `isCaughtUp`.
   */
  catchUp(): Promise<Progress>;
  /** Closes the consumer after the batch in flight. Later calls reject. */
  close(): Promise<void>;
}

export const createResultsConsumer = ({
  readStableFeed,
  readUncountedMs,
  advance,
}: ConsumerOptions): ResultsConsumer => {
  let isClosed = false;
  const catchUp = async (): Promise<Progress> => {
    const until = performance.now() + BUDGET_MS;
    const startedMs = Date.now();
    const { through, isCurrent } = await readStableFeed();
    for (;;) {
      if (isClosed) throw new Error('The store is closed');
      const { hasMore } = await advance(through);
      if (!hasMore && isCurrent) return { asOfMs: startedMs, isCaughtUp: true };
      if (!hasMore || performance.now() > until) {
        const uncountedMs = (await readUncountedMs()) ?? startedMs;
        return { asOfMs: Math.min(startedMs, uncountedMs), isCaughtUp: false };
      }
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Progress> | null = null;
  return {
    catchUp() {
      next ??= last.then(() => {
        next = null;
        const current = catchUp();
        last = current.catch(() => undefined);
        return current;
      });
      return next;
    },
    async close() {
      isClosed = true;
      await next?.catch(() => undefined);
      await last;
    },
  };
};
