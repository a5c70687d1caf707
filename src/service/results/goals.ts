import { memoize } from '../memoize.ts';
import type { EventRow } from '../profiles/events.ts';
import type { SqlRow } from '../sql/row-readers.ts';
import { pickFields, type RowOf } from '../sql/table.ts';
import { EVENTS } from '../sql/user-tables.ts';
import { createZonedCalendar, type ZonedCalendar } from '../zoned-calendar.ts';
import { CAMPAIGN_GOALS, type GoalTotals, type TotalsByGoal } from './tables.ts';

/** Goal of a campaign. A user reaches it with the event or purchase within `withinMs` milliseconds after the first impression. */
export type Goal = ({ event: string } | { product: string }) & { withinMs: number };

/** Returns a name such as `event:subscribed`, or `product:cup` for a purchase. */
const conversionName = (event: unknown, product: unknown): string =>
  product === null ? `event:${event}` : `product:${product}`;

/** Formats a goal, for example `86400000 event:subscribed`. */
export const formatGoal = (goal: Goal): string =>
  `${goal.withinMs} ${'event' in goal ? conversionName(goal.event, null) : conversionName(null, goal.product)}`;

/** Parses a goal from `formatGoal`. */
export const parseGoal = (goal: string): Goal => {
  const space = goal.indexOf(' ');
  const withinMs = Number(goal.slice(0, space));
  const value = goal.slice(goal.indexOf(':') + 1);
  return goal.startsWith('event:', space + 1) ? { event: value, withinMs } : { product: value, withinMs };
};

/** Goals are read in every batch, and a calendar caches its days. */
const getCalendar = memoize(createZonedCalendar, 100);

/** Row of `campaign_goals`. */
export interface CampaignGoal extends Omit<RowOf<typeof CAMPAIGN_GOALS>, 'timeZone'> {
  name: string;
  withinMs: number;
  isEvent: boolean;
  /** Event name or product ID. */
  value: string;
  /** Calendar of the days of conversions. */
  calendar: ZonedCalendar;
}

export const toGoal = (row: SqlRow): CampaignGoal => {
  const { timeZone, ...stored } = CAMPAIGN_GOALS.read(row);
  const { goal } = stored;
  const parsed = parseGoal(goal);
  const isEvent = 'event' in parsed;
  return {
    ...stored,
    name: goal.slice(goal.indexOf(' ') + 1),
    withinMs: parsed.withinMs,
    isEvent,
    value: isEvent ? parsed.event : parsed.product,
    calendar: getCalendar(timeZone),
  };
};

export const isBackfilled = ({ addedAfter, backfilledThrough }: CampaignGoal): boolean =>
  backfilledThrough >= addedAfter;

/** Event or purchase that may reach a goal. */
export interface GoalCandidate {
  eventId: number;
  userId: number;
  workspaceId: string;
  name: string;
  timeMs: number;
  revenue: number;
  /** Currency of a purchase; `''` for an event. */
  currency: string;
}

const GOAL_CANDIDATE = pickFields(EVENTS, [
  'eventId',
  'userId',
  'workspaceId',
  'name',
  'productId',
  'timeMs',
  'price',
  'quantity',
  'currency',
]);
export const GOAL_CANDIDATE_COLUMNS = GOAL_CANDIDATE.columns;

export const toGoalCandidate = (row: SqlRow): GoalCandidate => {
  const { name, productId, price, quantity, currency, ...event } = GOAL_CANDIDATE.read(row);
  return {
    ...event,
    name: conversionName(name, productId),
    revenue: (price ?? 0) * (quantity ?? 0),
    currency: currency ?? '',
  };
};

/** Converts a row of the feed. */
export const toCandidateOfFeed = (event: EventRow): GoalCandidate => {
  const { eventId, userId, workspaceId, timeMs } = event;
  const row = { eventId, userId, workspaceId, timeMs };
  if (event.kind === 'event')
    return { ...row, name: conversionName(event.name, null), revenue: 0, currency: '' };
  const { productId, price, quantity, currency } = event;
  return { ...row, name: conversionName(null, productId), revenue: price * quantity, currency };
};

const addGoalTotals = (one: GoalTotals | undefined, other: GoalTotals): GoalTotals => {
  if (!one) return other;
  const [events, revenue, currencies, day] = other;
  const all = new Set([...one[2].split(','), ...currencies.split(',')].filter((each) => each !== ''));
  return [one[0] + events, one[1] + revenue, [...all].sort().join(','), day < one[3] ? day : one[3]];
};

/** Returns the goal totals of two merged users. */
export const mergeGoalTotals = (one: TotalsByGoal, other: TotalsByGoal): TotalsByGoal => {
  const both = { ...one };
  for (const [goal, totals] of Object.entries(other)) both[goal] = addGoalTotals(both[goal], totals);
  return both;
};

/** Whether an event at this time is within the goal's time after the first impression. */
export const isInWindow = (timeMs: number, firstMs: number, withinMs: number): boolean =>
  timeMs >= firstMs && timeMs <= firstMs + withinMs;

/**
 * Returns a user's goal totals with these events added. An event counts if it is within the goal's time after the first
 * impression, and if the goal's backfill has reached it. Returns the same object if nothing changes.
 */
export const addConversions = (
  before: TotalsByGoal,
  goals: readonly CampaignGoal[],
  firstMs: number | null,
  events: readonly GoalCandidate[],
): TotalsByGoal => {
  let reached = before;
  if (firstMs === null) return reached;
  for (const { eventId, name, timeMs, revenue, currency } of events) {
    for (const { goal, name: wanted, withinMs, addedAfter, backfilledThrough, calendar } of goals) {
      if (name !== wanted || (eventId > backfilledThrough && eventId <= addedAfter)) continue;
      if (!isInWindow(timeMs, firstMs, withinMs)) continue;
      const added: GoalTotals = [1, revenue, currency, calendar.toDay(timeMs)];
      reached = { ...reached, [goal]: addGoalTotals(reached[goal], added) };
    }
  }
  return reached;
};

export interface GoalIndex {
  all: readonly CampaignGoal[];
  ofCampaign(workspaceId: string, campaignId: string): readonly CampaignGoal[];
  /** Event names and product IDs that are goals of a campaign. */
  values: readonly string[];
}

const NO_GOALS: readonly CampaignGoal[] = [];

export const createGoalIndex = (goals: readonly CampaignGoal[]): GoalIndex => {
  const workspaces = new Map(
    [...Map.groupBy(goals, ({ workspaceId }) => workspaceId)].map(([workspaceId, each]) => [
      workspaceId,
      Map.groupBy(each, ({ campaignId }) => campaignId),
    ]),
  );
  return {
    all: goals,
    ofCampaign: (workspaceId, campaignId) => workspaces.get(workspaceId)?.get(campaignId) ?? NO_GOALS,
    values: [...new Set(goals.map(({ value }) => value))],
  };
};
