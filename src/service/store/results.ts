import type { RunSql } from '../operators/index.ts';
import type { Goals } from './count-goals.ts';
import type { Row } from './rows.ts';

/** What counts as a success of a campaign: an event or a purchase, within this time after the user's first impression. */
export type Conversion = ({ event: string } | { product: string }) & { withinMs: number };

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

/** One variant on one day, by the event's own variant and the earlier of when it happened and when it was received. */
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

const countsOf = (row: Row): Counts => ({
  impressions: Number(row['impressions']),
  clicks: Number(row['clicks']),
  dismissals: Number(row['dismissals']),
  exposed: Number(row['exposed']),
  clicked: Number(row['clicked']),
  dismissed: Number(row['dismissed']),
});

/** Days of a time zone and of UTC are less than this apart. */
const DAY_MS = 86_400_000;

/**
 * Reads the counts that are kept of a campaign. `countGoals` counts what came of its conversions, if it has some, since a moment
 * before its first impression.
 */
export const readResults = async (
  run: RunSql,
  countGoals: (workspaceId: string, question: ResultsQuestion, startMs: number) => Promise<Goals>,
  workspaceId: string,
  question: ResultsQuestion,
): Promise<CampaignResults> => {
  const rows = (await run(READ, [workspaceId, question.campaignId])).map((row) => ({
    variantId: (row['variant_id'] as string) || null,
    part: row['part'] as string,
    counts: countsOf(row),
  }));
  const named = (kind: string) =>
    rows.flatMap(({ part, variantId, counts }) =>
      part.startsWith(kind) ? [{ name: part.slice(kind.length), variantId, ...counts }] : [],
    );
  const days = named('day:').map(({ name, ...counts }) => ({ day: name, ...counts }));
  const hasGoals = question.conversions.length > 0 && days.length > 0;
  const startMs = hasGoals ? Date.parse(days[0]!.day) - DAY_MS : 0;
  const { currencies, byVariant } = hasGoals
    ? await countGoals(workspaceId, question, startMs)
    : { currencies: [], byVariant: new Map() };
  const none = { converted: 0, revenue: 0, revenueSquares: 0 };
  return {
    arms: rows
      .filter(({ part }) => part === '')
      .map(({ variantId, counts }) => ({
        variantId,
        ...counts,
        goals: question.conversions.map((_, index) => byVariant.get(variantId)?.[index] ?? none),
      })),
    placements: named('placement:').map(({ name, ...counts }) => ({ placementId: name, ...counts })),
    languages: named('language:').map(({ name, ...counts }) => ({ language: name, ...counts })),
    days,
    currencies,
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
    campaignId: row['campaign_id'] as string,
    exposed: Number(row['exposed']),
    clicked: Number(row['clicked']),
  }));
};
