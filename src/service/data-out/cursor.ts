import type { FeedCursor } from '../results/statements.ts';

/** Cursor before the first stored row. */
export const START: FeedCursor = { events: 0, bannerEvents: 0, userChanges: 0 };

/** Formats a cursor as text, for example `1200-350-7`. */
export const formatCursor = ({ events, bannerEvents, userChanges }: FeedCursor): string =>
  `${events}-${bannerEvents}-${userChanges}`;

/** Parses a cursor from `formatCursor`. Returns `null` if the text is not a cursor. */
export const parseCursor = (text: string): FeedCursor | null => {
  const ids = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(text);
  return ids && { events: Number(ids[1]), bannerEvents: Number(ids[2]), userChanges: Number(ids[3]) };
};

export const isSameCursor = (one: FeedCursor, other: FeedCursor): boolean =>
  formatCursor(one) === formatCursor(other);
