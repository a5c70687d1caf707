import { COUNT_FIELDS, EVENT_TYPES, type EventType, mapKeys } from '../protocol/index.ts';

/** Name of a measure in the state of a user, and its exported event. */
const EVENT_TYPE_NAMES = {
  impression: { lastMs: 'lastImpressionMs', dataEvent: 'users.messages.banner.Impression' },
  click: { lastMs: 'lastClickMs', dataEvent: 'users.messages.banner.Click' },
  dismiss: { lastMs: 'lastDismissalMs', dataEvent: 'users.messages.banner.Dismiss' },
} as const satisfies Record<EventType, object>;

/** Measure of each type of banner event. Tables, SQL, results, audiences and exports derive from it. */
export const MEASURE_BY_TYPE = mapKeys(EVENT_TYPES, (type) => {
  const { events, users, last } = COUNT_FIELDS[type];
  const { lastMs, dataEvent } = EVENT_TYPE_NAMES[type];
  return {
    /** Column and result field with the number of events. */
    events,
    /** Column with the number of users with at least one event. */
    usersColumn: `${users}_users`,
    /** Result field with the number of users with at least one event. */
    usersField: users,
    /** Audience field with the time of the last event. */
    lastAudienceField: last,
    /** Column with the time of the last event. */
    lastColumn: `${last}_at`,
    /** Field of `UserCampaign` with the time of the last event. */
    lastMs,
    /** `event_type` of exports and webhooks. */
    dataEvent,
  } as const;
});

export const MEASURES = Object.values(MEASURE_BY_TYPE);
type Measure = (typeof MEASURES)[number];

/** Number of events by measure. */
export type EventCounts = Record<Measure['events'], number>;

/** Time of the last event by measure, in Unix milliseconds, at most the time of receipt; `null` if none. */
export type LastTimes = Record<Measure['lastMs'], number | null>;

/** Names of the members of `EventCounts`. */
export const EVENT_COUNT_NAMES = MEASURES.map(({ events }) => events);

export const zeroCounts = (): EventCounts => mapKeys(EVENT_COUNT_NAMES, () => 0);
export const noLastTimes = (): LastTimes =>
  mapKeys(
    MEASURES.map(({ lastMs }) => lastMs),
    () => null,
  );

/** Adds `added` to `counts` in place. */
export const addCounts = (counts: EventCounts, added: Readonly<EventCounts>): void => {
  for (const { events } of MEASURES) counts[events] += added[events];
};

/** Numbers of events, and of users with at least one event. Excludes test sends. */
export type Counts = Record<Measure['events'] | Measure['usersField'], number>;

export interface FirstImpression {
  variantId: string | null;
  /** Unix milliseconds; `null` before the first impression. */
  firstImpressionMs: number | null;
}

/**
 * Whether impression `a` precedes `b`. The earliest impression determines the variant of a user. If times are equal, the variant
 * that sorts first wins.
 */
export const isEarlierImpression = (a: FirstImpression, b: FirstImpression): boolean => {
  if (a.firstImpressionMs === null) return false;
  if (b.firstImpressionMs === null) return true;
  return a.firstImpressionMs === b.firstImpressionMs
    ? (a.variantId ?? '') < (b.variantId ?? '')
    : a.firstImpressionMs < b.firstImpressionMs;
};
