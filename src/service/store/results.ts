import { numberIn, type RunSql, type SqlRow, textIn, textsIn } from '../operators/index.ts';
import type { GoalStep } from './count-goals.ts';
import { type Conversion, goalOf, READ_CAMPAIGN_GOALS } from './goals.ts';
import type { Store } from './store.ts';

/** Events, and users who had at least one. Test sends are in no count. */
export interface Counts {
  impressions: number;
  clicks: number;
  dismissals: number;
  /** Users with an impression. Of control banners: users who would have seen it. */
  exposed: number;
  clicked: number;
  dismissed: number;
}

/** Of one of the campaign's `conversions`, users counted once each. */
export interface Goal {
  converted: number;
  /** Of purchases: the sum of `price * quantity` within the time, and the sum of the squares of what each user spent. */
  revenue: number;
  revenueSquares: number;
}

/** One variant, or the control group, whose `variantId` is `null`. */
export interface ArmResults extends Counts {
  variantId: string | null;
  /** In the order of the conversions that were asked for. */
  goals: Goal[];
}

/** One arm on one day, by the earlier of when each event happened and when it was received. */
export interface DayResults extends Counts {
  /** For example `2026-03-01`, in the time zone that the workspace had when the event came. */
  day: string;
  variantId: string | null;
}

/** One variant in one placement. */
export interface PlacementResults extends Counts {
  placementId: string;
  variantId: string | null;
}

/** One variant in one language, by the language in which each event's banner was shown. */
export interface LanguageResults extends Counts {
  language: string;
  variantId: string | null;
}

/** The counts of one campaign. */
export interface CampaignResults {
  /** Every exposed user is in one arm: the one of their first impression, with all that they did. */
  arms: ArmResults[];
  placements: PlacementResults[];
  /** Empty where the campaign names no language. */
  languages: LanguageResults[];
  /** In the order of the days. */
  days: DayResults[];
  /** Of the purchases in `goals`: of several currencies the revenue cannot be added up. */
  currencies: string[];
}

/** Which counts are asked for. */
export interface ResultsQuestion {
  campaignId: string;
  conversions: readonly Conversion[];
}

/** Of both databases. What was erased leaves rows of zeros. */
const READ = `SELECT variant_id, part, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(dismissals) AS dismissals,
    sum(exposed) AS exposed, sum(clicked) AS clicked, sum(dismissed) AS dismissed
  FROM campaign_counts WHERE workspace_id = $1 AND campaign_id = $2
  GROUP BY variant_id, part HAVING sum(impressions + clicks + dismissals) > 0 ORDER BY part, variant_id = '', variant_id`;

const countsOf = (row: SqlRow): Counts => ({
  impressions: numberIn(row, 'impressions'),
  clicks: numberIn(row, 'clicks'),
  dismissals: numberIn(row, 'dismissals'),
  exposed: numberIn(row, 'exposed'),
  clicked: numberIn(row, 'clicked'),
  dismissed: numberIn(row, 'dismissed'),
});

/** The control group has no variant. */
const variantIn = (row: SqlRow): string | null => textIn(row, 'variant_id') || null;

const READ_REACHED = `SELECT variant_id, goal, currencies, sum(converted) AS converted, sum(revenue) AS revenue, sum(squares) AS squares
  FROM goal_counts WHERE workspace_id = $1 AND campaign_id = $2
  GROUP BY variant_id, goal, currencies HAVING sum(converted) > 0`;

const NONE: Goal = { converted: 0, revenue: 0, revenueSquares: 0 };

/** Reads the counts that are kept of a campaign, in some hundred rows. */
const readResults = async (
  run: RunSql,
  workspaceId: string,
  { campaignId, conversions }: ResultsQuestion,
): Promise<CampaignResults> => {
  const rows = (await run(READ, [workspaceId, campaignId])).map((row) => ({
    variantId: variantIn(row),
    part: textIn(row, 'part'),
    counts: countsOf(row),
  }));
  const named = (kind: string) =>
    rows.flatMap(({ part, variantId, counts }) =>
      part.startsWith(kind) ? [{ name: part.slice(kind.length), variantId, ...counts }] : [],
    );
  const goals = conversions.map(goalOf);
  const reached = goals.length === 0 ? [] : await run(READ_REACHED, [workspaceId, campaignId]);
  const asked = reached.filter((row) => goals.includes(textIn(row, 'goal')));
  const reachedBy = (variantId: string | null, goal: string): Goal =>
    asked
      .filter((row) => row['goal'] === goal && variantIn(row) === variantId)
      .reduce(
        (sum, row) => ({
          converted: sum.converted + numberIn(row, 'converted'),
          revenue: sum.revenue + numberIn(row, 'revenue'),
          revenueSquares: sum.revenueSquares + numberIn(row, 'squares'),
        }),
        NONE,
      );
  const currencies = new Set(asked.flatMap((row) => textIn(row, 'currencies').split(',')));
  return {
    arms: rows
      .filter(({ part }) => part === '')
      .map(({ variantId, counts }) => ({
        variantId,
        ...counts,
        goals: goals.map((goal) => reachedBy(variantId, goal)),
      })),
    placements: named('placement:').map(({ name, ...counts }) => ({ placementId: name, ...counts })),
    languages: named('language:').map(({ name, ...counts }) => ({ language: name, ...counts })),
    days: named('day:').map(({ name, ...counts }) => ({ day: name, ...counts })),
    currencies: [...currencies].filter((currency) => currency !== '').sort(),
  };
};

/** Results of both databases. `countGoals` does a step of counting goals that were not kept, and answers whether there are more. */
export const createResults = (
  run: RunSql,
  countGoals: (step: GoalStep) => Promise<boolean>,
): Pick<Store, 'campaignResults' | 'keepGoals'> => {
  const keepGoals: Store['keepGoals'] = async (workspaceId, { campaignId, conversions }, signal) => {
    if (conversions.length === 0) return;
    const goals = conversions.map(goalOf);
    const [row] = await run(READ_CAMPAIGN_GOALS, [workspaceId, campaignId]);
    const known = row && row['counted_to'] === null ? textsIn(row, 'goals') : [];
    if (goals.every((goal) => known.includes(goal))) return;
    for (let hasMore = true; hasMore && !signal?.aborted; )
      hasMore = await countGoals({ workspaceId, campaignId, goals });
  };
  return {
    keepGoals,
    async campaignResults(workspaceId, question) {
      await keepGoals(workspaceId, question);
      return readResults(run, workspaceId, question);
    },
  };
};

/** The first numbers of a campaign: users who saw one of its variants, and those of them who clicked. */
export interface CampaignNumber {
  campaignId: string;
  exposed: number;
  clicked: number;
}

/** Of both databases. */
export const readNumbers = async (run: RunSql, workspaceId: string): Promise<CampaignNumber[]> => {
  const rows = await run(
    `SELECT campaign_id, sum(exposed) AS exposed, sum(clicked) AS clicked FROM campaign_counts
     WHERE workspace_id = $1 AND part = '' AND variant_id <> '' GROUP BY campaign_id`,
    [workspaceId],
  );
  return rows.map((row) => ({
    campaignId: textIn(row, 'campaign_id'),
    exposed: numberIn(row, 'exposed'),
    clicked: numberIn(row, 'clicked'),
  }));
};
