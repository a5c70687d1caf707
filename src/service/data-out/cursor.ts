import { FEED_NAMES, FEED_START, type FeedCursor } from '../sql/feed.ts';

/** Formats a cursor as text, for example `1200-350-7`. */
export const formatCursor = (cursor: FeedCursor): string => FEED_NAMES.map((name) => cursor[name]).join('-');

/** Parses a cursor from `formatCursor`. Returns `null` if the text is not a cursor. */
export const parseCursor = (text: string): FeedCursor | null => {
  const ids = text.split('-');
  if (ids.length !== FEED_NAMES.length || !ids.every((id) => /^\d{1,15}$/.test(id))) return null;
  const cursor = { ...FEED_START };
  for (const [index, name] of FEED_NAMES.entries()) cursor[name] = Number(ids[index]);
  return cursor;
};

export const isSameCursor = (one: FeedCursor, other: FeedCursor): boolean =>
  formatCursor(one) === formatCursor(other);
