// Reference model: computes the results of a campaign from a plain list of events.

import type {
  ArmResults,
  CampaignResults,
  Counts,
  Goal,
  GoalResult,
  ResultsQuery,
} from '../../../src/service/store/index.ts';
import { createZonedCalendar } from '../../../src/service/zoned-calendar.ts';

export interface Seen {
  person: number;
  type: 'impression' | 'click' | 'dismiss';
  variantId: string | null;
  placementId: string;
  language: string | null;
  /** The earlier of event time and receive time. */
  ms: number;
}

export interface Done {
  person: number;
  event?: string;
  product?: string;
  price: number;
  ms: number;
}

const getCounts = (seen: readonly Seen[]): Counts => {
  const of = (type: Seen['type']) => seen.filter((each) => each.type === type);
  const people = (type: Seen['type']) => new Set(of(type).map(({ person }) => person)).size;
  return {
    impressions: of('impression').length,
    clicks: of('click').length,
    dismissals: of('dismiss').length,
    exposed: people('impression'),
    clicked: people('click'),
    dismissed: people('dismiss'),
  };
};

const groupBy = <T>(all: readonly T[], getName: (each: T) => string): T[][] =>
  [...new Set(all.map(getName))].sort().map((name) => all.filter((each) => getName(each) === name));

/** Users who reached a goal. */
const reachedBy = (
  conversion: Goal,
  firsts: ReadonlyMap<number, Seen>,
  done: readonly Done[],
): { variantId: string | null; firstMs: number; revenue: number }[] =>
  [...firsts].flatMap(([person, { ms: first, variantId }]) => {
    const reached = done.filter((each) => {
      const isMeant =
        'event' in conversion ? each.event === conversion.event : each.product === conversion.product;
      return isMeant && each.person === person && each.ms >= first && each.ms <= first + conversion.withinMs;
    });
    const firstMs = Math.min(...reached.map(({ ms }) => ms));
    const revenue = reached.reduce((sum, { price }) => sum + price, 0);
    return reached.length === 0 ? [] : [{ variantId, firstMs, revenue }];
  });

const getGoal = (reached: readonly { revenue: number }[]): GoalResult => ({
  converted: reached.length,
  revenue: reached.reduce((sum, { revenue }) => sum + revenue, 0),
  revenueSumOfSquares: reached.reduce((sum, { revenue }) => sum + revenue * revenue, 0),
});

const sorted = <T extends object>(rows: readonly T[]): T[] =>
  rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

/** Sorts all lists, for comparison. */
export const inOrder = ({
  arms,
  placements,
  languages,
  buttons,
  days,
  currencies,
}: Omit<CampaignResults, 'asOfMs'>): Omit<CampaignResults, 'asOfMs'> => ({
  arms: sorted(arms),
  placements: sorted(placements),
  languages: sorted(languages),
  buttons: sorted(buttons),
  days: sorted(days),
  currencies,
});

export const getModel = (
  seen: readonly Seen[],
  done: readonly Done[],
  { goals, timeZone }: Omit<ResultsQuery, 'campaignId'>,
): Omit<CampaignResults, 'asOfMs'> => {
  const firsts = new Map<number, Seen>();
  for (const each of seen) {
    const known = firsts.get(each.person);
    if (each.type === 'impression' && (!known || each.ms < known.ms)) firsts.set(each.person, each);
  }
  const getArm = ({ person }: { person: number }) => firsts.get(person)!.variantId;
  const counted = seen.filter(({ person }) => firsts.has(person));
  const calendar = createZonedCalendar(timeZone);
  const reached = goals.map((conversion) => reachedBy(conversion, firsts, done));
  const arms = groupBy(counted, (each) => String(getArm(each))).map((each): ArmResults => {
    const variantId = getArm(each[0]!);
    return {
      variantId,
      ...getCounts(each),
      goals: reached.map((users) => getGoal(users.filter((user) => user.variantId === variantId))),
    };
  });
  const days = groupBy(
    [
      ...counted.map((each) => ({ day: calendar.toDay(each.ms), variantId: getArm(each) })),
      ...reached.flat().map(({ variantId, firstMs }) => ({ day: calendar.toDay(firstMs), variantId })),
    ],
    (each) => JSON.stringify(each),
  ).map(([each]) => {
    const { day, variantId } = each!;
    const isThen = (ms: number, of: string | null) => calendar.toDay(ms) === day && of === variantId;
    return {
      day,
      variantId,
      ...getCounts(counted.filter((seen) => isThen(seen.ms, getArm(seen)))),
      goals: reached.map((users) => getGoal(users.filter((user) => isThen(user.firstMs, user.variantId)))),
    };
  });
  return {
    arms,
    placements: groupBy(counted, (each) => `${each.placementId} ${getArm(each)}`).map((each) => ({
      placementId: each[0]!.placementId,
      variantId: getArm(each[0]!),
      ...getCounts(each),
    })),
    languages: groupBy(
      counted.filter(({ language }) => language !== null),
      (each) => `${each.language} ${getArm(each)}`,
    ).map((each) => ({
      language: each[0]!.language!,
      variantId: getArm(each[0]!),
      ...getCounts(each),
    })),
    days,
    buttons: [],
    currencies: [],
  };
};
