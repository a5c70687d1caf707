import { EVENT_TYPES, mapKeys } from '../../protocol/index.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import {
  type FirstImpression,
  isEarlierImpression,
  MEASURE_BY_TYPE,
  MEASURES,
} from '../profiles/measures.ts';
import { mergeGoalTotals, type TotalsByGoal } from './goals.ts';

/** Number of events by measure, in the order of `MEASURES`. Stored lists lack measures that were added later. */
export type MeasureCounts = readonly number[];

/** Result of one user for a campaign. */
export interface UserResult {
  campaignId: string;
  /** Variant of the earliest impression; `null` in the control group. */
  variantId: string | null;
  /** Unix milliseconds. */
  firstImpressionMs: number | null;
  /**
   * Counts by dimension, for example `day:2026-03-01`, or `TOTAL`. Contains only dimensions that a batch has read or
   * changed.
   */
  counts: Map<string, MeasureCounts>;
  /** Latest month with a day, for example `2026-03`; `''` if none. */
  month: string;
  goals: TotalsByGoal;
  /** Part of `goals` whose events retention has deleted. */
  prunedGoals: TotalsByGoal;
  /** State before the batch, with the counts of changed dimensions only. */
  before: Pick<UserResult, 'variantId' | 'goals' | 'counts' | 'month'>;
}

/** Dimension of the total. */
export const TOTAL = '';
/** Month of the row for all time, which also has the days of the latest month. */
export const ALL_TIME = '';

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

const NONE: MeasureCounts = MEASURES.map(() => 0);

const IMPRESSIONS = MEASURES.indexOf(MEASURE_BY_TYPE.impression);

/** Whether the total of a result contains an impression. */
export const hasImpression = (total: MeasureCounts | undefined): boolean => (total?.[IMPRESSIONS] ?? 0) > 0;

/** Returns the counts of a dimension before the batch. */
export const countsBefore = ({ counts, before }: UserResult, dimension: string): MeasureCounts =>
  before.counts.get(dimension) ?? counts.get(dimension) ?? NONE;

/** Properties of a banner event that determine its dimensions. */
export type DimensionsOfEvent = Pick<NewBannerEvent, 'day' | 'placementId' | 'language'>;

const getDimensions = ({ day, placementId, language }: DimensionsOfEvent): string[] => [
  TOTAL,
  `day:${day}`,
  `placement:${placementId}`,
  ...(language === null ? [] : [`language:${language}`]),
];

const DAY = 'day:';
const MONTH_LENGTH = '2026-03'.length;

/** Returns the month of a day, for example `2026-03`; `''` for other dimensions. */
export const getMonth = (dimension: string): string =>
  dimension.startsWith(DAY) ? dimension.slice(DAY.length, DAY.length + MONTH_LENGTH) : '';

/** Counts of a stored row, by dimension. */
export type RowCounts = Record<string, MeasureCounts>;

/** Returns the counts of each stored row that has changed, by month. The days of the latest month are in `ALL_TIME`. */
export const changedRows = ({ counts, month, before }: UserResult): Map<string, RowCounts> => {
  const getRow = (dimension: string) => {
    const ofDay = getMonth(dimension);
    return ofDay === month ? ALL_TIME : ofDay;
  };
  const rows = new Map<string, RowCounts>([[ALL_TIME, {}]]);
  for (const dimension of before.counts.keys()) {
    const row = getRow(dimension);
    if (row !== ALL_TIME) rows.set(row, {});
  }
  if (before.month !== month && before.month !== '') rows.set(before.month, {});
  for (const [dimension, each] of counts) {
    const row = rows.get(getRow(dimension));
    if (row) row[dimension] = each;
  }
  return rows;
};

const updateCounts = (result: UserResult, dimension: string, added: MeasureCounts, times: 1 | -1): void => {
  const known = result.counts.get(dimension) ?? NONE;
  if (!result.before.counts.has(dimension)) result.before.counts.set(dimension, known);
  result.counts.set(
    dimension,
    NONE.map((none, index) => (known[index] ?? none) + times * (added[index] ?? none)),
  );
  const month = getMonth(dimension);
  if (month > result.month) result.month = month;
};

/** Counts of one event of each type. */
const ONE_EVENT = mapKeys(EVENT_TYPES, (type) =>
  MEASURES.map((measure) => Number(measure === MEASURE_BY_TYPE[type])),
);

/** Adds an event, or subtracts it if `times` is -1. */
export const addUserResultEvent = (
  result: UserResult,
  event: DimensionsOfEvent & Pick<NewBannerEvent, 'eventType'>,
  times: 1 | -1,
): void => {
  for (const dimension of getDimensions(event))
    updateCounts(result, dimension, ONE_EVENT[event.eventType], times);
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
  for (const [dimension, added] of merged.counts) updateCounts(kept, dimension, added, 1);
  kept.prunedGoals = mergeGoalTotals(kept.prunedGoals, merged.prunedGoals);
};

/** Marks all dimensions as changed, so that a merge writes them for the kept user. */
export const markChanged = (result: UserResult): void => {
  for (const dimension of result.counts.keys()) updateCounts(result, dimension, NONE, 1);
};

export const isChanged = ({ goals, before }: UserResult): boolean =>
  before.counts.size > 0 || goals !== before.goals;
