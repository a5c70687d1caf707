import { EVENT_TYPES, mapKeys } from '../../protocol/index.ts';
import { EVENT_COUNT_NAMES, MEASURES } from '../measures.ts';
import {
  bigint,
  boolean,
  date,
  defineTable,
  enumText,
  eventId,
  float,
  int,
  json,
  jsonText,
  orNull,
  pickFields,
  primaryKey,
  type RowOf,
  text,
  timestamp,
} from './table.ts';

// Tables of users, as described in `docs/reference/sql-schema.md`. DDL, statements, readers and row types derive from them.

export const USERS = defineTable(
  'users',
  {
    userId: primaryKey('user_id'),
    workspaceId: text('workspace_id'),
    externalId: orNull(text('external_id')),
    /** NULL if the user has only banner events. */
    profile: orNull(jsonText('profile')),
    /** Number of writes of the row. */
    version: bigint('version'),
    createdAtMs: timestamp('created_at'),
    /** Time of the last profile change; without a profile, of the last banner event. */
    updatedAtMs: timestamp('updated_at'),
  },
  { distributedBy: 'user_id' },
);

export const USER_IDENTIFIERS = defineTable(
  'user_identifiers',
  {
    workspaceId: text('workspace_id'),
    /** Kind and value, such as `email:kim@example.org`. */
    identifier: text('identifier'),
    userId: bigint('user_id'),
  },
  { key: 'workspace_id, identifier, user_id', distributedBy: 'identifier' },
);

/** Custom events have a name; purchases have a product ID, a price, a currency and a quantity. */
export const EVENTS = defineTable(
  'events',
  {
    eventId: eventId('event_id'),
    workspaceId: text('workspace_id'),
    userId: bigint('user_id'),
    name: orNull(text('name')),
    productId: orNull(text('product_id')),
    price: orNull(float('price')),
    currency: orNull(text('currency')),
    quantity: orNull(int('quantity')),
    appId: orNull(text('app_id')),
    timeMs: timestamp('occurred_at'),
    /** Never before `timeMs`. */
    receivedAtMs: timestamp('received_at'),
    properties: orNull(json<Record<string, unknown>>('properties')),
  },
  { distributedBy: 'user_id' },
);

export const BANNER_EVENTS = defineTable(
  'banner_events',
  {
    bannerEventId: eventId('banner_event_id'),
    userId: bigint('user_id'),
    bannerId: text('banner_id'),
    eventType: enumText('event_type', EVENT_TYPES),
    /** Timestamp as sent, in Unix milliseconds. A wrong clock may put it into the future. */
    timeMs: timestamp('occurred_at'),
    workspaceId: text('workspace_id'),
    campaignId: text('campaign_id'),
    /** ID of the variant; `null` for a control banner. */
    variantId: orNull(text('variant_id')),
    placementId: text('placement_id'),
    /**
     * Date of the earlier of timestamp and receipt in the workspace's time zone, for example `2026-03-01`. Date of receipt if the
     * timestamp is more than 400 days older.
     */
    day: text('day'),
    appId: text('app_id'),
    isControl: boolean('is_control'),
    /** Whether the event is of a test user or a known bot. Such events are stored, but excluded from exports and counts. */
    isTestSend: boolean('is_test_send'),
    /** Whether the event was the user's first of its type for the campaign at the time of storage. */
    isFirstOfType: boolean('is_first_of_type'),
    receivedAtMs: timestamp('received_at'),
    /** Language in which the banner was shown; `null` if the campaign has no languages. */
    language: orNull(text('language')),
    /** Holdout in whose results the event also counts; `null` if none. */
    holdoutId: orNull(text('holdout_id')),
    /** Link or button that was clicked; `null` if unknown. */
    buttonId: orNull(text('button_id')),
  },
  { distributedBy: 'user_id' },
);

/**
 * Identifies a banner event. Repeats are stored only once. Includes the campaign, because decisions read by user and campaign.
 */
export const BANNER_EVENT_KEY = pickFields(BANNER_EVENTS, [
  'userId',
  'campaignId',
  'bannerId',
  'eventType',
  'timeMs',
]);

/** Banner event of both users of a merge, which is stored only once. */
export const DUPLICATE_EVENT = pickFields(BANNER_EVENTS, [
  'bannerEventId',
  'campaignId',
  'holdoutId',
  'eventType',
  'day',
  'placementId',
  'language',
]);

/** Corrections to the feed: changes of users after their events were read. */
export const USER_CHANGES = defineTable('user_changes', {
  changeId: eventId('change_id'),
  workspaceId: text('workspace_id'),
  userId: bigint('user_id'),
  kind: enumText('kind', ['merged', 'erased', 'expired', 'duplicate']),
  /** Target of a merge. */
  intoUserId: orNull(bigint('into_user_id')),
  changedAtMs: timestamp('changed_at'),
  /** Removed row of a duplicate. */
  bannerEvent: orNull(json<RowOf<typeof DUPLICATE_EVENT>>('banner_event')),
});

/** State of a user in a campaign, which a sync reads. Excludes test sends. */
export const USER_CAMPAIGNS = defineTable(
  'user_campaigns',
  {
    userId: bigint('user_id'),
    campaignId: text('campaign_id'),
    workspaceId: text('workspace_id'),
    /** Variant of the earliest impression; `null` before an impression and in the control group. */
    variantId: orNull(text('variant_id')),
    isControl: boolean('is_control'),
    /** Unix milliseconds, at most the time of receipt; `null` before the first impression. */
    firstImpressionMs: orNull(timestamp('first_impression_at')),
    ...mapKeys(EVENT_COUNT_NAMES, int),
    ...mapKeys(
      MEASURES.map(({ lastMs }) => lastMs),
      (_, index) => orNull(timestamp(MEASURES[index]!.lastColumn)),
    ),
    /** Eligibility round (number of earlier dismissals). A dismissal starts the round after the round of the dismissed banner. */
    round: int('round'),
  },
  { key: 'user_id, campaign_id', distributedBy: 'user_id' },
);

/**
 * Tables whose rows are deleted by the ID of their user. Identifiers are deleted by their key, `user_events` by a trigger, and
 * `user_results` by the results consumer.
 */
export const OWNED_BY_USERS = [EVENTS, BANNER_EVENTS, USER_CAMPAIGNS];

export const DATA_POINTS = defineTable(
  'data_points',
  {
    workspaceId: text('workspace_id'),
    /** UTC day, such as `2026-03-01`. */
    day: date('day'),
    /** Counter shard. The total is the sum of all shards. */
    shard: int('shard'),
    points: bigint('points'),
  },
  { key: 'workspace_id, day, shard' },
);

export const WORKSPACES = defineTable(
  'workspaces',
  { workspaceId: text('workspace_id'), secret: text('secret') },
  { key: 'workspace_id' },
);

/**
 * SQLite's events by user, up to the cursor `user_events` of the feed. Filled in batches, because an index on events would write a
 * page for each.
 */
export const USER_EVENTS = defineTable(
  'user_events',
  { userId: bigint('user_id'), eventId: bigint('event_id') },
  { key: 'user_id, event_id' },
);

export const USER_TABLES = [
  USERS,
  USER_IDENTIFIERS,
  EVENTS,
  BANNER_EVENTS,
  USER_CHANGES,
  USER_CAMPAIGNS,
  DATA_POINTS,
  WORKSPACES,
];
