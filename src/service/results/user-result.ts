import type { NewBannerEvent } from '../profiles/events.ts';
import {
  addCounts,
  type EventCounts,
  type FirstImpression,
  isEarlierImpression,
  MEASURE_BY_TYPE,
  zeroCounts,
} from '../profiles/measures.ts';
import { mergeGoalTotals, type TotalsByGoal } from './goals.ts';

/** Result of one user for a campaign. */
export interface UserResult {
  campaignId: string;
  /** Variant of the earliest impression; `null` in the control group. */
  variantId: string | null;
  /** Unix milliseconds. */
  firstImpressionMs: number | null;
  /**
   * Counts by dimension, for example `day:2026-03-01`, or `''` for the total. Contains only dimensions that a batch has read or
   * changed.
   */
  counts: Map<string, Readonly<EventCounts>>;
  /** Latest month with a day, for example `2026-03`; `''` if none. */
  month: string;
  goals: TotalsByGoal;
  /** Part of `goals` whose events retention has deleted. */
  prunedGoals: TotalsByGoal;
  /** State before the batch, with the counts of changed dimensions only. */
  before: Pick<UserResult, 'variantId' | 'goals' | 'counts' | 'month'>;
}

export const createUserResult = (campaignId: string): UserResult => ({
  campaignId,
  variantId: null,
  firstImpressionMs: null,
  counts: new Map(),
  month: '',
  goals: {},
  prunedGoals: {},
  before: { variantId: null, goals: {}, counts: new Map(), month: '' },
});

const NONE: Readonly<EventCounts> = zeroCounts();

/** Returns the counts of a dimension before the batch. */
export const countsBefore = ({ counts, before }: UserResult, dimension: string): Readonly<EventCounts> =>
  before.counts.get(dimension) ?? counts.get(dimension) ?? NONE;

/** Properties of a banner event that determine its dimensions. */
export type DimensionsOfEvent = Pick<NewBannerEvent, 'day' | 'placementId' | 'language'>;

const getDimensions = ({ day, placementId, language }: DimensionsOfEvent): string[] => [
  '',
  `day:${day}`,
  `placement:${placementId}`,
  ...(language === null ? [] : [`language:${language}`]),
];

const DAY = 'day:';
const MONTH_LENGTH = '2026-03'.length;

/** Returns the month of a day, for example `2026-03`; `''` for other dimensions. */
export const getMonth = (dimension: string): string =>
  dimension.startsWith(DAY) ? dimension.slice(DAY.length, DAY.length + MONTH_LENGTH) : '';

/** Returns the counts of each stored row that has changed, by month. The days of the latest month are in the row `''`. */
export const changedRows = ({ counts, month, before }: UserResult): Map<string, UserResult['counts']> => {
  const getRow = (dimension: string) => {
    const ofDay = getMonth(dimension);
    return ofDay === month ? '' : ofDay;
  };
  const rows = new Map<string, UserResult['counts']>([['', new Map()]]);
  for (const dimension of before.counts.keys()) rows.set(getRow(dimension), new Map());
  if (before.month !== month && before.month !== '') rows.set(before.month, new Map());
  for (const [dimension, each] of counts) rows.get(getRow(dimension))?.set(dimension, each);
  return rows;
};

const updateCounts = (result: UserResult, dimension: string, edit: (counts: EventCounts) => void): void => {
  const known = result.counts.get(dimension) ?? NONE;
  if (!result.before.counts.has(dimension)) result.before.counts.set(dimension, known);
  const counts = { ...known };
  edit(counts);
  result.counts.set(dimension, counts);
  const month = getMonth(dimension);
  if (month > result.month) result.month = month;
};

/** Adds an event, or subtracts it if `times` is -1. */
export const addUserResultEvent = (
  result: UserResult,
  event: DimensionsOfEvent & Pick<NewBannerEvent, 'eventType'>,
  times: 1 | -1,
): void => {
  const { events } = MEASURE_BY_TYPE[event.eventType];
  for (const dimension of getDimensions(event))
    updateCounts(result, dimension, (counts) => {
      counts[events] += times;
    });
};

/** Replaces the first impression if the given one is earlier. Returns whether it was. */
export const updateFirstImpression = (result: FirstImpression, first: FirstImpression): boolean => {
  if (!isEarlierImpression(first, result)) return false;
  result.variantId = first.variantId;
  result.firstImpressionMs = first.firstImpressionMs;
  return true;
};

/** Adds the results of a merged user. */
export const mergeResults = (kept: UserResult, merged: UserResult): void => {
  updateFirstImpression(kept, merged);
  for (const [dimension, added] of merged.counts)
    updateCounts(kept, dimension, (counts) => addCounts(counts, added));
  kept.prunedGoals = mergeGoalTotals(kept.prunedGoals, merged.prunedGoals);
};

/** Marks all dimensions as changed, so that a merge writes them for the kept user. */
export const markChanged = (result: UserResult): void => {
  for (const dimension of result.counts.keys()) updateCounts(result, dimension, () => undefined);
};

export const isChanged = ({ goals, before }: UserResult): boolean =>
  before.counts.size > 0 || goals !== before.goals;
