import { EVENT_TYPES, mapKeys } from '../../protocol/index.ts';
import { type FirstImpression, isEarlierImpression, MEASURE_BY_TYPE, MEASURES } from '../measures.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import { mergeGoalTotals } from './goals.ts';
import type { MeasureCounts, RowCounts, TotalsByGoal } from './tables.ts';

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
  latestMonth: string;
  goals: TotalsByGoal;
  /** Part of `goals` whose events retention has deleted. */
  prunedGoals: TotalsByGoal;
  /** State before the batch, with the counts of changed dimensions only. */
  before: Pick<UserResult, 'variantId' | 'goals' | 'latestMonth'> & {
    counts: Map<string, Readonly<MeasureCounts>>;
  };
}

/** Prefixes of the dimensions of counts. */
export const DIMENSIONS = { day: 'day:', placement: 'placement:', language: 'language:' } as const;
/** Dimension of the total. */
export const TOTAL = '';
/** Month of the row for all time, which also has the days of the latest month. */
export const ALL_TIME = '';

export const createUserResult = (campaignId: string): UserResult => ({
  campaignId,
  variantId: null,
  firstImpressionMs: null,
  counts: new Map(),
  latestMonth: '',
  goals: {},
  prunedGoals: {},
  before: { variantId: null, goals: {}, counts: new Map(), latestMonth: '' },
});

export const ZERO_COUNTS: Readonly<MeasureCounts> = MEASURES.map(() => 0);

const MEASURE_INDEXES = mapKeys(EVENT_TYPES, (type) => MEASURES.indexOf(MEASURE_BY_TYPE[type]));

/** Whether the total of a result contains an impression. */
export const hasImpression = (total: Readonly<MeasureCounts> | undefined): boolean =>
  (total?.[MEASURE_INDEXES.impression] ?? 0) > 0;

/** Returns the counts of a dimension before the batch. */
export const countsBefore = ({ counts, before }: UserResult, dimension: string): Readonly<MeasureCounts> =>
  before.counts.get(dimension) ?? counts.get(dimension) ?? ZERO_COUNTS;

/** Properties of a banner event that determine its dimensions. */
export type DimensionsOfEvent = Pick<NewBannerEvent, 'day' | 'placementId' | 'language'>;

const getDimensions = ({ day, placementId, language }: DimensionsOfEvent): string[] => [
  TOTAL,
  `${DIMENSIONS.day}${day}`,
  `${DIMENSIONS.placement}${placementId}`,
  ...(language === null ? [] : [`${DIMENSIONS.language}${language}`]),
];

/** Returns the month of a day, for example `2026-03`. */
export const toMonth = (day: string): string => day.slice(0, '2026-03'.length);

/** Returns the month of the dimension of a day; `''` for other dimensions. */
export const getMonth = (dimension: string): string =>
  dimension.startsWith(DIMENSIONS.day) ? toMonth(dimension.slice(DIMENSIONS.day.length)) : '';

/** Returns the counts of each stored row that has changed, by month. The days of the latest month are in `ALL_TIME`. */
export const changedRows = ({ counts, latestMonth, before }: UserResult): Map<string, RowCounts> => {
  const getRow = (dimension: string) => {
    const ofDay = getMonth(dimension);
    return ofDay === latestMonth ? ALL_TIME : ofDay;
  };
  const rows = new Map<string, RowCounts>([[ALL_TIME, {}]]);
  for (const dimension of before.counts.keys()) {
    const row = getRow(dimension);
    if (row !== ALL_TIME) rows.set(row, {});
  }
  if (before.latestMonth !== latestMonth && before.latestMonth !== '') rows.set(before.latestMonth, {});
  for (const [dimension, each] of counts) {
    const row = rows.get(getRow(dimension));
    if (row) row[dimension] = each;
  }
  return rows;
};

/** Returns the counts of a dimension for modification, after keeping those before the batch. */
const changeCounts = (result: UserResult, dimension: string): MeasureCounts => {
  const { counts, before } = result;
  const existing = counts.get(dimension);
  if (existing && before.counts.has(dimension)) return existing;
  before.counts.set(dimension, existing ?? ZERO_COUNTS);
  const changed = ZERO_COUNTS.map((none, index) => existing?.[index] ?? none);
  counts.set(dimension, changed);
  const month = getMonth(dimension);
  if (month > result.latestMonth) result.latestMonth = month;
  return changed;
};

/** Adds an event, or subtracts it if `times` is -1. */
export const addUserResultEvent = (
  result: UserResult,
  event: DimensionsOfEvent & Pick<NewBannerEvent, 'eventType'>,
  times: 1 | -1,
): void => {
  const index = MEASURE_INDEXES[event.eventType];
  for (const dimension of getDimensions(event)) changeCounts(result, dimension)[index]! += times;
};

/** Replaces the first impression if the given one is earlier. Returns whether it was. */
export const updateFirstImpression = (result: FirstImpression, first: FirstImpression): boolean => {
  if (!isEarlierImpression(first, result)) return false;
  result.variantId = first.variantId;
  result.firstImpressionMs = first.firstImpressionMs;
  return true;
};

/** Adds the counts of a merged user to `kept`. The batch recounts `goals`. */
export const mergeResults = (kept: UserResult, merged: UserResult): void => {
  updateFirstImpression(kept, merged);
  for (const [dimension, added] of merged.counts) {
    const counts = changeCounts(kept, dimension);
    for (const [index, count] of added.entries()) counts[index]! += count;
  }
  kept.prunedGoals = mergeGoalTotals(kept.prunedGoals, merged.prunedGoals);
};

/** Marks all dimensions as changed, so that a merge writes them for the kept user. */
export const markChanged = (result: UserResult): void => {
  for (const dimension of result.counts.keys()) changeCounts(result, dimension);
};

export const isChanged = ({ goals, before }: UserResult): boolean =>
  before.counts.size > 0 || goals !== before.goals;
