import { getKeys, mapKeys } from '../../protocol/index.ts';
import { BANNER_EVENTS, EVENTS, USER_CHANGES } from './user-tables.ts';

/** Place of a row in the feed. */
export interface FeedPosition {
  /** ID in commit order. */
  id: number;
  /** Time of storage, in Unix milliseconds. */
  storedAtMs: number;
}

const defineFeedTable = <IdField extends string, TimeField extends string>(
  { name, fields }: { name: string; fields: Record<IdField | TimeField, { name: string }> },
  idField: IdField,
  timeField: TimeField,
) => ({
  name,
  /** Column of the ID. */
  idColumn: fields[idField].name,
  /** Column of the time of storage. */
  timeColumn: fields[timeField].name,
  toPosition: (row: Record<IdField | TimeField, number>): FeedPosition => ({
    id: row[idField],
    storedAtMs: row[timeField],
  }),
});

/** Tables of the feed. Stored and formatted cursors have this order. */
export const FEED_TABLES = {
  events: defineFeedTable(EVENTS, 'eventId', 'receivedAtMs'),
  bannerEvents: defineFeedTable(BANNER_EVENTS, 'bannerEventId', 'receivedAtMs'),
  userChanges: defineFeedTable(USER_CHANGES, 'changeId', 'changedAtMs'),
};

type FeedName = keyof typeof FEED_TABLES;
export const FEED_NAMES = getKeys(FEED_TABLES);

/** Position in the feed, as the last ID of each table. */
export type FeedCursor = Record<FeedName, number>;

/** Cursor before the first stored row. */
export const FEED_START: FeedCursor = mapKeys(FEED_NAMES, () => 0);

/** Rows of each table in commit order. */
type FeedRows = {
  [Name in FeedName]: readonly Parameters<(typeof FEED_TABLES)[Name]['toPosition']>[0][];
};

export const toPositions = ({
  events,
  bannerEvents,
  userChanges,
}: FeedRows): Record<FeedName, FeedPosition[]> => ({
  events: events.map(FEED_TABLES.events.toPosition),
  bannerEvents: bannerEvents.map(FEED_TABLES.bannerEvents.toPosition),
  userChanges: userChanges.map(FEED_TABLES.userChanges.toPosition),
});
