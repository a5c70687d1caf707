import { FEED_NAMES, FEED_START, type FeedCursor, type FeedPosition, toPositions } from '../sql/feed.ts';
import type { Feed, FeedPage } from '../store/store.ts';
import { createDataEvents, type DataEvent, type FindWorkspace } from './data-event.ts';
import type { WebhookEventName } from './event-types.ts';

interface ReadEventsOptions {
  feed: Feed;
  findWorkspace: FindWorkspace;
  after: FeedCursor;
  /** Cursor of the last row to read. Default: the end of the feed. */
  through?: FeedCursor;
  /** Maximum number of rows. */
  limit: number;
  /** Workspace of the events. Default: all. */
  workspaceId?: string | undefined;
  /** Types of the events. Default: all. */
  types?: ReadonlySet<WebhookEventName> | null;
}

/** Events of consecutive rows of the feed. */
export interface EventsRead {
  events: DataEvent[];
  /** Number of rows read; 0 at the end of the feed. */
  rows: number;
  next: FeedCursor;
}

/**
 * Returns the first `limit` rows of a page in the order in which they were stored. Omits the rest of each table, because a cursor
 * is one ID per table.
 */
const limitRows = (
  page: FeedPage,
  after: FeedCursor,
  through: FeedCursor | undefined,
  limit: number,
): FeedPage => {
  const positions = toPositions(page);
  const counts = { ...FEED_START };
  const next = { ...after };
  for (let count = 0; count < limit; count += 1) {
    let first: { name: keyof FeedCursor; position: FeedPosition } | undefined;
    for (const name of FEED_NAMES) {
      const position = positions[name][counts[name]];
      if (!position || position.id > (through?.[name] ?? Infinity)) continue;
      if (!first || position.storedAtMs < first.position.storedAtMs) first = { name, position };
    }
    if (!first) break;
    counts[first.name] += 1;
    next[first.name] = first.position.id;
  }
  return {
    events: page.events.slice(0, counts.events),
    bannerEvents: page.bannerEvents.slice(0, counts.bannerEvents),
    userChanges: page.userChanges.slice(0, counts.userChanges),
    next,
  };
};

/** Reads rows after a cursor, and returns them as events in order of storage. */
export const readEvents = async (options: ReadEventsOptions): Promise<EventsRead> => {
  const { feed, findWorkspace, after, through, limit, workspaceId, types } = options;
  const page = limitRows(await feed.readFeed(after, limit), after, through, limit);
  const isConversionWanted = !types || types.has('users.campaigns.Conversion');
  const conversions = isConversionWanted ? await feed.readConversions(page) : [];
  const converters = new Map<string, ReturnType<typeof createDataEvents>>();
  const getConverter = (id: string) => {
    const maker = converters.get(id) ?? createDataEvents(id, findWorkspace(id));
    converters.set(id, maker);
    return maker;
  };
  const rows = [
    ...page.events.map((row) => ({
      ms: row.receivedAtMs,
      event: getConverter(row.workspaceId).convertEvent(row),
    })),
    ...page.bannerEvents.map((row) => ({
      ms: row.receivedAtMs,
      event: getConverter(row.workspaceId).convertBannerEvent(row),
    })),
    ...page.userChanges.map((row) => ({
      ms: row.changedAtMs,
      event: getConverter(row.workspaceId).convertChange(row),
    })),
  ].sort((one, other) => one.ms - other.ms);
  const events = [
    ...rows.map(({ event }) => event),
    ...conversions.map((row) => getConverter(row.workspaceId).convertConversion(row)),
  ]
    .filter((event) => event !== null)
    .filter(
      (event) =>
        (workspaceId === undefined || event.workspaceId === workspaceId) && (!types || types.has(event.type)),
    );
  return { events, rows: rows.length, next: page.next };
};
