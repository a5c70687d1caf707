import { type RunSql, readNumber, readText, type SqlRow } from '../row-readers.ts';
import { type Conversion, formatGoal } from './goals.ts';
import { type Counts, MEASURES } from './measures.ts';

/** Users who reached one of the campaign's `conversions`. */
export interface GoalResult {
  converted: number;
  /** Revenue (purchases only): sum of `price * quantity` within the time, and sum of squares of each user's revenue. */
  revenue: number;
  revenueSquares: number;
}

/** Results of one variant, or of the control group, whose `variantId` is `null`. */
export interface ArmResults extends Counts {
  variantId: string | null;
  /** In the order of the requested conversions. */
  goals: GoalResult[];
}

/** Results of one arm on one day, by the earlier of timestamp and receipt of each event. */
export interface DayResults extends Counts {
  /** For example `2026-03-01`, in the workspace's time zone at the time of receipt. */
  day: string;
  variantId: string | null;
}

/** Results of one variant in one placement. */
export interface PlacementResults extends Counts {
  placementId: string;
  variantId: string | null;
}

/** Results of one variant in one language, by the language of each event's banner. */
export interface LanguageResults extends Counts {
  language: string;
  variantId: string | null;
}

/** Results of one campaign. */
export interface CampaignResults {
  /** Every exposed user is in one arm, the one of the first impression, with all their events. */
  arms: ArmResults[];
  placements: PlacementResults[];
  /** Empty if the campaign has no languages. */
  languages: LanguageResults[];
  /** In chronological order. */
  days: DayResults[];
  /** Currencies of the purchases in `goals`. Revenue in several currencies cannot be added. */
  currencies: string[];
  /** Everything stored before this is counted. Unix milliseconds. */
  asOfMs: number;
}

/** Requested counts. */
export interface ResultsQuery {
  campaignId: string;
  conversions: readonly Conversion[];
}

const SUMS = MEASURES.flatMap(({ events, users }) => [events, users])
  .map((column) => `sum(${column}) AS ${column}`)
  .join(', ');

/** Erasure leaves rows of zeros. */
const READ = `SELECT variant_id, dimension, ${MEASURES.flatMap(({ events, users }) => [events, users]).join(', ')}
  FROM campaign_counts WHERE workspace_id = $1 AND campaign_id = $2 AND ${MEASURES.map(({ events }) => events).join(' + ')} > 0
  ORDER BY dimension, variant_id = '', variant_id`;

const countsIn = (row: SqlRow): Counts =>
  Object.fromEntries(
    MEASURES.flatMap(({ events, users, userCount }) => [
      [events, readNumber(row, events)],
      [userCount, readNumber(row, users)],
    ]),
  ) as Counts;

const variantIn = (row: SqlRow): string | null => readText(row, 'variant_id') || null;

const READ_REACHED = `SELECT variant_id, goal, currencies, converted_users, revenue, revenue_sum_of_squares
  FROM goal_counts WHERE workspace_id = $1 AND campaign_id = $2 AND converted_users > 0`;

const NONE: GoalResult = { converted: 0, revenue: 0, revenueSquares: 0 };

/** Reads the stored counts of a campaign, some hundred rows. */
export const readResults = async (
  run: RunSql,
  workspaceId: string,
  { campaignId, conversions }: ResultsQuery,
): Promise<Omit<CampaignResults, 'asOfMs'>> => {
  const rows = (await run(READ, [workspaceId, campaignId])).map((row) => ({
    variantId: variantIn(row),
    dimension: readText(row, 'dimension'),
    counts: countsIn(row),
  }));
  const named = (kind: string) =>
    rows.flatMap(({ dimension, variantId, counts }) =>
      dimension.startsWith(kind) ? [{ name: dimension.slice(kind.length), variantId, ...counts }] : [],
    );
  const goals = conversions.map(formatGoal);
  const reached = goals.length === 0 ? [] : await run(READ_REACHED, [workspaceId, campaignId]);
  const asked = reached.filter((row) => goals.includes(readText(row, 'goal')));
  const reachedBy = (variantId: string | null, goal: string): GoalResult =>
    asked
      .filter((row) => row['goal'] === goal && variantIn(row) === variantId)
      .reduce(
        (sum, row) => ({
          converted: sum.converted + readNumber(row, 'converted_users'),
          revenue: sum.revenue + readNumber(row, 'revenue'),
          revenueSquares: sum.revenueSquares + readNumber(row, 'revenue_sum_of_squares'),
        }),
        NONE,
      );
  const currencies = new Set(asked.flatMap((row) => readText(row, 'currencies').split(',')));
  return {
    arms: rows
      .filter(({ dimension }) => dimension === '')
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

/** Summary of a campaign. */
export interface CampaignSummary {
  campaignId: string;
  /** Users who saw a variant, and those of them who clicked. */
  exposed: number;
  clicked: number;
  /** Users in each variant, and in the control group, whose `variantId` is `null`. */
  arms: { variantId: string | null; exposed: number }[];
  /** Impressions of the variants on the requested days. */
  dayImpressions: number;
}

/** Reads the summaries of all campaigns, with the impressions on some days, such as `2026-03-01`. */
export const readSummaries = async (
  run: RunSql,
  workspaceId: string,
  days: readonly [string, string] = ['', ''],
): Promise<CampaignSummary[]> => {
  const rows = await run(
    `SELECT campaign_id, variant_id, dimension, ${SUMS} FROM campaign_counts
     WHERE workspace_id = $1 AND dimension IN ('', $2, $3) GROUP BY campaign_id, variant_id, dimension
     ORDER BY campaign_id, variant_id`,
    [workspaceId, ...days.map((day) => `day:${day}`)],
  );
  const byCampaign = Map.groupBy(rows, (row) => readText(row, 'campaign_id'));
  return [...byCampaign].map(([campaignId, found]) => {
    const total = found.filter((row) => row['dimension'] === '');
    const sumCounts = (counted: readonly SqlRow[], count: keyof Counts) =>
      counted.filter((row) => variantIn(row) !== null).reduce((sum, row) => sum + countsIn(row)[count], 0);
    return {
      campaignId,
      exposed: sumCounts(total, 'exposed'),
      clicked: sumCounts(total, 'clicked'),
      arms: total.map((row) => ({ variantId: variantIn(row), exposed: countsIn(row).exposed })),
      dayImpressions: sumCounts(
        found.filter((row) => row['dimension'] !== ''),
        'impressions',
      ),
    };
  });
};
