import { mapKeys } from '../../protocol/index.ts';
import { EVENT_COUNT_NAMES, MEASURES } from '../measures.ts';
import { FEED_NAMES, FEED_START, FEED_TABLES } from '../sql/feed.ts';
import {
  bigint,
  converted,
  defineTable,
  float,
  json,
  orNull,
  type RowOf,
  text,
  timestamp,
} from '../sql/table.ts';

// Tables that the results derive from the feed.

/** Cursor of each consumer of the feed. A batch commits it together with the rows that it writes. */
export const FEED_CURSORS = defineTable(
  'feed_cursors',
  {
    consumer: text('consumer'),
    /** Last ID read of each table of the feed; of changes, the ID up to which all are applied. */
    ...mapKeys(FEED_NAMES, (name) => bigint(FEED_TABLES[name].name)),
    /** IDs of later changes of users that are already applied. */
    appliedChangeIds: json<number[]>('applied_change_ids'),
  },
  { key: 'consumer' },
);

/** Cursor of a consumer that has read nothing. */
export const NEW_CURSOR = { ...FEED_START, appliedChangeIds: [] };

/**
 * A user's totals of a goal. `currencies` are the currencies of the revenue, for example `EUR,PLN`. `day` is the day of the first
 * event, for example `2026-03-01`.
 */
export type GoalTotals = [events: number, revenue: number, currencies: string, day: string];
export type TotalsByGoal = Record<string, GoalTotals>;

/** Number of events by measure, in the order of `MEASURES`. Stored lists lack measures that were added later. */
export type MeasureCounts = number[];

/** Counts of a stored row, by dimension. */
export type RowCounts = Record<string, MeasureCounts>;

const NO_GOALS: TotalsByGoal = {};

/** Events, revenue, currencies and day of the first, by goal. NULL if none. */
const totalsByGoal = (name: string) =>
  converted(
    orNull(json<TotalsByGoal>(name)),
    (totals) => totals ?? NO_GOALS,
    (totals) => (Object.keys(totals).length === 0 ? null : totals),
  );

/** Results of each user in a campaign: one row for all time, and one for the days of each month. */
export const USER_RESULTS = defineTable(
  'user_results',
  {
    userId: bigint('user_id'),
    campaignId: text('campaign_id'),
    /** Month such as `2026-03`; `''` for all time, with the days of the latest month. */
    month: text('month'),
    workspaceId: text('workspace_id'),
    /** Counts by dimension: `day:2026-03-01`, and for all time also `''`, `placement:home_hero` and `language:pt-BR`. */
    counts: json<RowCounts>('counts'),
    /** Variant of the earliest impression. This and the next fields are empty in months. */
    variantId: orNull(text('variant_id')),
    firstImpressionMs: orNull(timestamp('first_impression_at')),
    goals: totalsByGoal('goals'),
    /** Part of `goals` whose events retention has deleted. */
    prunedGoals: totalsByGoal('pruned_goals'),
  },
  { key: 'user_id, campaign_id, month', distributedBy: 'user_id' },
);

export const CAMPAIGN_COUNTS = defineTable(
  'campaign_counts',
  {
    workspaceId: text('workspace_id'),
    campaignId: text('campaign_id'),
    /** ID of the variant; `''` for the control group. */
    variantId: text('variant_id'),
    /** `''` for the total, otherwise `day:2026-03-01`, `placement:home_hero` or `language:pt-BR`. */
    dimension: text('dimension'),
    ...mapKeys(EVENT_COUNT_NAMES, bigint),
    /** Users with at least one event. */
    ...mapKeys(
      MEASURES.map(({ usersColumn }) => usersColumn),
      bigint,
    ),
  },
  { key: 'workspace_id, campaign_id, variant_id, dimension' },
);

export const CAMPAIGN_GOALS = defineTable(
  'campaign_goals',
  {
    workspaceId: text('workspace_id'),
    campaignId: text('campaign_id'),
    /** Goal from `formatGoal`, such as `86400000 event:subscribed`. */
    goal: text('goal'),
    /** Time zone of the days in `goal_counts`. */
    timeZone: text('time_zone'),
    /** ID of the last event before the goal was added. Later events count as they are read. */
    addedAfter: bigint('added_after'),
    /** ID of the event up to which the backfill has counted. */
    backfilledThrough: bigint('backfilled_through'),
  },
  { key: 'workspace_id, campaign_id, goal' },
);

export const GOAL_COUNTS = defineTable(
  'goal_counts',
  {
    workspaceId: text('workspace_id'),
    campaignId: text('campaign_id'),
    /** ID of the variant; `''` for the control group. */
    variantId: text('variant_id'),
    /** Goal as in `campaign_goals`. */
    goal: text('goal'),
    /** Day of the first conversion of each user, such as `2026-03-01`. */
    day: text('day'),
    /** Currencies of a user's purchases: `EUR`, or `EUR,PLN`; `''` for events. */
    currencies: text('currencies'),
    convertedUsers: bigint('converted_users'),
    revenue: float('revenue'),
    /** Sum of the squares of each user's revenue. */
    revenueSumOfSquares: float('revenue_sum_of_squares'),
  },
  { key: 'workspace_id, campaign_id, variant_id, goal, day, currencies' },
);

/** Custom events and purchases by quarter hour, because every UTC offset is a multiple of it. */
export const EVENT_COUNTS = defineTable(
  'event_counts',
  {
    workspaceId: text('workspace_id'),
    /** `event` or `purchase`. */
    kind: text('kind'),
    /** Event name or product ID; `''` for all products. */
    name: text('name'),
    /** Start of the quarter hour. */
    startsAtMs: timestamp('starts_at'),
    /** `''` if unknown. */
    appId: text('app_id'),
    /** `''` for events. */
    currency: text('currency'),
    /** Number of events, or of purchased units. */
    quantity: bigint('quantity'),
    revenue: float('revenue'),
  },
  { key: 'workspace_id, kind, name, starts_at, app_id, currency' },
);

export const RESULTS_TABLES = [
  FEED_CURSORS,
  USER_RESULTS,
  CAMPAIGN_COUNTS,
  CAMPAIGN_GOALS,
  GOAL_COUNTS,
  EVENT_COUNTS,
];

export type UserResultRow = RowOf<typeof USER_RESULTS>;
/** Row of `goal_counts`, or an increment of a row. */
export type GoalCount = RowOf<typeof GOAL_COUNTS>;
/** Row of `event_counts`, or an increment of a row. */
export type EventCount = RowOf<typeof EVENT_COUNTS>;
