import { FEED_NAMES, FEED_START, type FeedCursor, toPositions } from '../sql/feed.ts';
import type { Feed } from '../store/store.ts';
import { isSameCursor } from './cursor.ts';

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
  const low = { ...FEED_START };
  const high = { ...(await feedEnd()) };
  while (!isSameCursor(low, high)) {
    const middle = { ...low };
    for (const name of FEED_NAMES) middle[name] = Math.floor((low[name] + high[name]) / 2);
    const page = await readFeed(middle, 1);
    const positions = toPositions(page);
    for (const name of FEED_NAMES) {
      const isEarlier = (positions[name][0]?.storedAtMs ?? Infinity) < fromMs;
      if (isEarlier) low[name] = Math.min(page.next[name], high[name]);
      else high[name] = middle[name];
    }
  }
  return low;
};
