import type { FeedCursor } from '../results/statements.ts';
import type { Feed } from '../store/store.ts';
import { isSameCursor, START } from './cursor.ts';

const TABLES = ['events', 'bannerEvents', 'userChanges'] as const;
/** Maximum difference between the commit order of rows and the order of their times. */
const SLACK_MS = 60_000;

/**
 * Finds a cursor before all rows that were stored since a time, by binary search. Up to a minute of earlier rows may also follow
 * the cursor.
 */
export const cursorSince = async (
  { readFeed, feedEnd }: Pick<Feed, 'readFeed' | 'feedEnd'>,
  sinceMs: number,
): Promise<FeedCursor> => {
  const fromMs = sinceMs - SLACK_MS;
  const low = { ...START };
  const high = { ...(await feedEnd()) };
  while (!isSameCursor(low, high)) {
    const middle = { ...low };
    for (const table of TABLES) middle[table] = Math.floor((low[table] + high[table]) / 2);
    const page = await readFeed(middle, 1);
    const first = {
      events: page.events[0]?.receivedAtMs,
      bannerEvents: page.bannerEvents[0]?.receivedAtMs,
      userChanges: page.userChanges[0]?.changedAtMs,
    };
    for (const table of TABLES) {
      const isEarlier = (first[table] ?? Infinity) < fromMs;
      if (isEarlier) low[table] = Math.min(page.next[table], high[table]);
      else high[table] = middle[table];
    }
  }
  return low;
};
