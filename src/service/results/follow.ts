import type { Advanced } from './advance.ts';
import type { FeedCursor } from './statements.ts';

/** How far the feed is settled: no transaction that is still open will store a row before it. */
export interface Settled {
  /** `null` if everything that is visible is. */
  through: FeedCursor | null;
  /** Everything that was stored before this is part of it. Unix milliseconds. */
  atMs: number;
}

interface FollowOptions {
  settle(): Promise<Settled> | Settled;
  advance(through: FeedCursor | null): Promise<Advanced>;
}

/** How far results are. */
export interface Progress {
  /** Everything that was stored before this is counted. Unix milliseconds. */
  asOfMs: number;
  isCaughtUp: boolean;
}

/** How long one call advances at most. */
const BUDGET_MS = 2_000;

export interface Follower {
  /**
   * Catches up with the feed, for two seconds at most. Calls during another one share the next: what was stored before a call is counted
   * when it resolves.
   */
  catchUp(): Promise<Progress>;
  /** Ends after the step in flight; rejects calls from then on. */
  close(): Promise<void>;
}

export const createFollower = ({ settle, advance }: FollowOptions): Follower => {
  let isClosed = false;
  const catchUp = async (): Promise<Progress> => {
    const until = performance.now() + BUDGET_MS;
    const { through, atMs } = await settle();
    for (;;) {
      if (isClosed) throw new Error('The store is closed');
      const { hasMore, readToMs } = await advance(through);
      if (!hasMore) return { asOfMs: atMs, isCaughtUp: true };
      if (performance.now() > until) return { asOfMs: readToMs, isCaughtUp: false };
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
