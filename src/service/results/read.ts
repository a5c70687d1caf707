import { NO_COUNTS } from '../../protocol/index.ts';
import { type Counts, EVENT_COUNT_NAMES, MEASURES } from '../measures.ts';
import { type RunSql, readNumber, readText, type SqlRow } from '../sql/row-readers.ts';
import { type ButtonResults, readButtons } from './button-results.ts';
import { formatGoal, type Goal } from './goals.ts';
import { DIMENSIONS, TOTAL } from './user-result.ts';

/** Users who reached one of the requested goals. */
export interface GoalResult {
  converted: number;
  /** Sum of `price * quantity` of purchases within the goal's time. */
  revenue: number;
  /** Sum of the squares of each user's revenue. */
  revenueSumOfSquares: number;
}

/** Results of one variant; `variantId` is `null` for the control group. */
export interface ArmResults extends Counts {
  variantId: string | null;
  /** Results of goals, in the order of the requested goals. */
  goals: GoalResult[];
}

/** Results of one arm on one day, by the `day` of each banner event. */
export interface DayResults extends Counts {
  /** Day such as `2026-03-01`, in the workspace's time zone at the time of receipt. */
  day: string;
  variantId: string | null;
  /** Users whose first conversion was on this day, with their whole revenue, in the order of the requested goals. */
  goals: GoalResult[];
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
  /** Results by variant. Every exposed user is, with all events, in the arm of the user's first impression. */
  arms: ArmResults[];
  placements: PlacementResults[];
  /** Results by language. Empty if the campaign has no languages. */
  languages: LanguageResults[];
  /** Most clicked links and buttons, in descending order. Empty if clicks have no `button_id`. */
  buttons: ButtonResults[];
  /** Results by day, in chronological order. */
  days: DayResults[];
  /** Currencies of the purchases in `goals`. Do not add revenue in different currencies. */
  currencies: string[];
  /** Time before which all stored rows are counted, in Unix milliseconds. */
  asOfMs: number;
}

export interface ResultsQuery {
  campaignId: string;
  goals: readonly Goal[];
  /** Time zone of the days of conversions. */
  timeZone: string;
}

const SUMS = MEASURES.flatMap(({ events, usersColumn }) => [events, usersColumn])
  .map((column) => `sum(${column}) AS ${column}`)
  .join(', ');

/** Skips rows of zeros, which erasure leaves. */
const READ = `SELECT variant_id, dimension, ${MEASURES.flatMap(({ events, usersColumn }) => [events, usersColumn]).join(', ')}
  FROM campaign_counts WHERE workspace_id = $1 AND campaign_id = $2 AND ${EVENT_COUNT_NAMES.join(' + ')} > 0
  ORDER BY dimension, variant_id = '', variant_id`;

const toCounts = (row: SqlRow): Counts =>
  Object.assign(
    {},
    ...MEASURES.map(({ events, usersColumn, usersField }) => ({
      [events]: readNumber(row, events),
      [usersField]: readNumber(row, usersColumn),
    })),
  );

const readVariantId = (row: SqlRow): string | null => readText(row, 'variant_id') || null;

const READ_GOALS = `SELECT variant_id, goal, day, currencies, converted_users, revenue, revenue_sum_of_squares
  FROM goal_counts WHERE workspace_id = $1 AND campaign_id = $2 AND converted_users > 0`;

const NO_USERS: GoalResult = { converted: 0, revenue: 0, revenueSumOfSquares: 0 };

/** Reads the stored counts of a campaign, which are some hundred rows. */
export const readCampaignResults = async (
  run: RunSql,
  workspaceId: string,
  { campaignId, goals: requested }: ResultsQuery,
): Promise<Omit<CampaignResults, 'asOfMs'>> => {
  const rows = (await run(READ, [workspaceId, campaignId])).map((row) => ({
    variantId: readVariantId(row),
    dimension: readText(row, 'dimension'),
    counts: toCounts(row),
  }));
  const getDimension = (kind: string) =>
    rows.flatMap(({ dimension, variantId, counts }) =>
      dimension.startsWith(kind) ? [{ name: dimension.slice(kind.length), variantId, ...counts }] : [],
    );
  const goals = requested.map(formatGoal);
  const goalRows = goals.length === 0 ? [] : await run(READ_GOALS, [workspaceId, campaignId]);
  const requestedRows = goalRows.filter((row) => goals.includes(readText(row, 'goal')));
  const toGoalResults = (found: readonly SqlRow[] = []): GoalResult[] =>
    goals.map((goal) =>
      found
        .filter((row) => row['goal'] === goal)
        .reduce<GoalResult>(
          (sum, row) => ({
            converted: sum.converted + readNumber(row, 'converted_users'),
            revenue: sum.revenue + readNumber(row, 'revenue'),
            revenueSumOfSquares: sum.revenueSumOfSquares + readNumber(row, 'revenue_sum_of_squares'),
          }),
          NO_USERS,
        ),
    );
  const goalRowsByVariant = Map.groupBy(requestedRows, readVariantId);
  const toDayKey = (day: string, variantId: string | null) => JSON.stringify([day, variantId]);
  const goalRowsByDay = Map.groupBy(requestedRows, (row) =>
    toDayKey(readText(row, 'day'), readVariantId(row)),
  );
  const days = new Map(
    getDimension(DIMENSIONS.day).map(({ name: day, ...row }) => [
      toDayKey(day, row.variantId),
      { day, ...row },
    ]),
  );
  for (const [key, [row]] of goalRowsByDay)
    if (!days.has(key))
      days.set(key, { day: readText(row!, 'day'), variantId: readVariantId(row!), ...NO_COUNTS });
  const currencies = new Set(requestedRows.flatMap((row) => readText(row, 'currencies').split(',')));
  return {
    arms: rows
      .filter(({ dimension }) => dimension === TOTAL)
      .map(({ variantId, counts }) => ({
        variantId,
        ...counts,
        goals: toGoalResults(goalRowsByVariant.get(variantId)),
      })),
    placements: getDimension(DIMENSIONS.placement).map(({ name, ...counts }) => ({
      placementId: name,
      ...counts,
    })),
    languages: getDimension(DIMENSIONS.language).map(({ name, ...counts }) => ({
      language: name,
      ...counts,
    })),
    buttons: await readButtons(run, workspaceId, campaignId),
    days: [...days]
      .map(([key, day]) => ({ ...day, goals: toGoalResults(goalRowsByDay.get(key)) }))
      .sort((one, other) => (one.day < other.day ? -1 : Number(one.day > other.day))),
    currencies: [...currencies].filter((currency) => currency !== '').sort(),
  };
};

/** Summary of a campaign. */
export interface CampaignSummary {
  campaignId: string;
  /** Number of users who saw a variant. */
  exposed: number;
  /** Number of exposed users who clicked. */
  clicked: number;
  /** Numbers of users by variant; `variantId` is `null` for the control group. */
  arms: { variantId: string | null; exposed: number }[];
  /** Number of impressions of the variants on the requested days. */
  dayImpressions: number;
}

/** Reads the summaries of all campaigns. `days` are the days whose impressions are counted, for example `2026-03-01`. */
export const readSummaries = async (
  run: RunSql,
  workspaceId: string,
  days: readonly [string, string] = ['', ''],
): Promise<CampaignSummary[]> => {
  const rows = await run(
    `SELECT campaign_id, variant_id, dimension, ${SUMS} FROM campaign_counts
     WHERE workspace_id = $1 AND dimension IN ('', $2, $3) GROUP BY campaign_id, variant_id, dimension
     ORDER BY campaign_id, variant_id`,
    [workspaceId, ...days.map((day) => `${DIMENSIONS.day}${day}`)],
  );
  const byCampaign = Map.groupBy(rows, (row) => readText(row, 'campaign_id'));
  return [...byCampaign].map(([campaignId, found]) => {
    const total = found.filter((row) => row['dimension'] === TOTAL);
    const sumCounts = (counted: readonly SqlRow[], count: keyof Counts) =>
      counted
        .filter((row) => readVariantId(row) !== null)
        .reduce((sum, row) => sum + toCounts(row)[count], 0);
    return {
      campaignId,
      exposed: sumCounts(total, 'exposed'),
      clicked: sumCounts(total, 'clicked'),
      arms: total.map((row) => ({ variantId: readVariantId(row), exposed: toCounts(row).exposed })),
      dayImpressions: sumCounts(
        found.filter((row) => row['dimension'] !== TOTAL),
        'impressions',
      ),
    };
  });
};
