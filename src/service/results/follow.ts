import type { Advanced } from './advance.ts';
import type { FeedCursor } from './statements.ts';

/** How far the feed is settled: no open transaction will store a row before it. */
export interface Settled {
  /** `null` if everything visible is settled. */
  through: FeedCursor | null;
  /** Everything stored before this is included. Unix milliseconds. */
  atMs: number;
}

interface FollowOptions {
  settle(): Promise<Settled> | Settled;
  advance(through: FeedCursor | null): Promise<Advanced>;
}

/** Progress of the results consumer. */
export interface Progress {
  /** Everything stored before this is counted. Unix milliseconds. */
  asOfMs: number;
  isCaughtUp: boolean;
}

/** Maximum duration of one call. */
const BUDGET_MS = 2_000;

export interface Follower {
  /**
   * Catches up with the feed, for at most two seconds. Calls during a run share the next one: what was stored before a call is
   * counted when it resolves.
   */
  catchUp(): Promise<Progress>;
  /** Closes after the step in flight. Later calls reject. */
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
