import {
  type CampaignResults,
  HOLDOUT_TREATMENT,
  HttpError,
  isHoldoutId,
  type PlacementResults,
  type Release,
} from '../../../service/index.ts';
import { type CampaignJson, toCampaignJson } from '../../campaign/campaign-json.ts';
import { campaignChanges } from '../../campaign/changes.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { getFieldLabel } from '../../campaign/describe-fields.ts';
import { getCampaignResults, toGoalJson } from '../../results-query.ts';
import { compareResults } from '../../statistics/compare.ts';
import { COUNTS_EXCEPT_IMPRESSIONS, goalName } from '../../statistics/metrics.ts';
import { headline } from '../../statistics/sentences.ts';
import { type EndedTestSnapshot, type SinceEnd, sinceEnd, soleVariant } from '../ended-test.ts';
import { csvFile, get, iso, type WorkspaceContext } from '../route.ts';
import { findCampaignRow } from './campaigns.ts';

/** Returns the counts by variant as rows of a CSV file. Omits revenue in several currencies, because it has no sum. */
const resultsCsv = (
  campaign: CampaignJson,
  { arms, buttons, currencies }: Pick<ResultsResponse, 'arms' | 'buttons' | 'currencies'>,
): (string | number)[][] => {
  const isSum = currencies.length < 2;
  const goals = campaign.conversions ?? [];
  const heads = [
    'campaign',
    'variant',
    'users',
    'impressions',
    ...COUNTS_EXCEPT_IMPRESSIONS.flatMap(({ events, users }) => [events, `users_${users}`]),
  ];
  const goalHeads = goals.flatMap((goal) => [
    `users: ${goalName(goal)}`,
    `${['revenue', ...(isSum ? currencies : [])].join(' ')}: ${goalName(goal)}`,
  ]);
  const buttonIds = [...new Set(buttons.map(({ buttonId }) => buttonId))];
  const rows = arms.map(({ name, variantId, exposed, impressions, goals: reached, ...counts }) => [
    campaign.campaign_id,
    name,
    exposed,
    impressions,
    ...COUNTS_EXCEPT_IMPRESSIONS.flatMap(({ events, users }) => [counts[events], counts[users]]),
    ...reached.flatMap(({ converted, revenue }) => [converted, isSum ? revenue : '']),
    ...buttonIds.map(
      (id) => buttons.find((each) => each.buttonId === id && each.variantId === variantId)?.clicks ?? 0,
    ),
  ]);
  return [[...heads, ...goalHeads, ...buttonIds.map((id) => `clicks: ${id}`)], ...rows];
};

interface EndedResults {
  at: string;
  release: number;
  /** Name of the variant that all users get since the end. */
  winner: string;
  since: SinceEnd[];
}

/** Release during the exposure of the campaign. */
interface ResultsEdit {
  release: number;
  /** Day in the time zone of the results. */
  day: string;
  author: string;
  /** Labels of the changed fields. */
  what: string[];
}

/** Labels of fields without an effect on users. */
const UNSEEN = ['name', 'test_users', 'conversions', 'target_sample_size', 'tags'].map(getFieldLabel);
const MAX_EDITS = 50;

/** Returns the versions of a campaign since the day of its first exposure and the version before, newest first. */
const readVersions = async (
  { studio, workspace, nowMs }: WorkspaceContext,
  campaignId: string,
  firstDay: string | undefined,
): Promise<Release[]> => {
  if (firstDay === undefined || workspace.campaignsFrom !== 'studio') return [];
  const subject = { kind: 'campaign', subjectId: campaignId } as const;
  const found = await studio.releases(workspace.workspaceId, { subject, limit: MAX_EDITS });
  const live = found
    .filter(({ liveAtMs, cancelledAtMs }) => cancelledAtMs === null && liveAtMs <= nowMs)
    .sort((one, other) => other.liveAtMs - one.liveAtMs || other.release - one.release);
  const before = live.findIndex(({ liveAtMs }) => workspace.calendar.toDay(liveAtMs) < firstDay);
  // The version before the first day is included, because users may have seen it on the first day.
  return before < 0 ? live : live.slice(0, before + 1);
};

const toEdits = (versions: readonly Release[], { workspace }: WorkspaceContext): ResultsEdit[] => {
  const same = (text: string) => text;
  const naming = { placement: same, moment: same, audience: (_: unknown, id: string) => id };
  return versions
    .flatMap(({ release, author, liveAtMs, content }, index): ResultsEdit[] => {
      const before = toCampaignJson(versions[index + 1]?.content);
      if (!before) return [];
      const changes = campaignChanges(before, toCampaignJson(content), naming);
      const what = content === null ? ['Archived'] : changes.map(({ label }) => label);
      const seen = what.filter((label) => !UNSEEN.includes(label));
      const day = workspace.calendar.toDay(liveAtMs);
      return seen.length > 0 ? [{ release, day, author, what: seen }] : [];
    })
    .reverse();
};

const sortPlacements = (campaign: CampaignJson, found: readonly PlacementResults[]): PlacementResults[] => {
  const getPosition = ({ placementId }: PlacementResults) => {
    const at = campaign.placements.indexOf(placementId);
    return at < 0 ? campaign.placements.length : at;
  };
  return found.toSorted((one, other) => getPosition(one) - getPosition(other));
};

/** Counts of a campaign with what they depend on. */
interface ResultsInput {
  campaign: CampaignJson;
  counts: CampaignResults;
  /** Versions since the first exposure, newest first. */
  versions: readonly Release[];
  ended: EndedResults | null;
}

const toResponse = ({ campaign, counts, versions, ended }: ResultsInput, context: WorkspaceContext) => {
  const former = versions.flatMap(({ content }) => toCampaignJson(content) ?? []).reverse();
  const compared = compareResults(campaign, counts, former);
  const { days, languages, buttons, currencies } = counts;
  return {
    ...compared,
    asOf: iso(counts.asOfMs),
    headline: headline(campaign, compared, context.nowMs),
    // Changes since the first exposure, oldest first. Results from before and after a change are not comparable.
    edits: toEdits(versions, context),
    days,
    placements: sortPlacements(campaign, counts.placements),
    // Empty if the campaign has no language.
    languages,
    // Most clicked links and buttons. Empty if clicks have no `button_id`.
    buttons,
    // Time zone of the days.
    timeZone: context.workspace.studio.timeZone,
    // Amounts in several currencies cannot be summed.
    currencies,
    // Goals in the order of the counts of each arm.
    goals: campaign.conversions ?? [],
    // If set, all other members are the results at the end of the test.
    ended,
  };
};
export type ResultsResponse = ReturnType<typeof toResponse>;

/** Returns the combined results of all campaigns as results of one campaign with the holdout as control group. */
const measureHoldout = async ({ workspace, store, nowMs }: WorkspaceContext): Promise<ResultsInput> => {
  const { holdout, workspaceId } = workspace;
  if (!holdout) throw new HttpError(404, 'This workspace has no holdout');
  const { campaignId, percentage, goals } = holdout;
  const campaign: CampaignJson = {
    campaign_id: campaignId,
    status: 'active',
    placements: [],
    control_percentage: percentage,
    // The planned end is now, because the results have no planned end and can be read at any time.
    ends_at: iso(nowMs),
    conversions: goals.map(toGoalJson),
    variants: [{ variant_id: HOLDOUT_TREATMENT, name: 'All campaigns', properties: {} }],
  };
  const { timeZone } = workspace.studio;
  const counts = await store.campaignResults(workspaceId, { campaignId, goals, timeZone });
  const parts = { placements: [], languages: [], buttons: [] };
  return { campaign, counts: { ...counts, ...parts }, versions: [], ended: null };
};

/** Returns the ended test of the campaign; `null` if none or if the shares have changed since. */
const findEndedTest = async (
  { workspace, store, studio, nowMs }: WorkspaceContext,
  live: CampaignJson,
): Promise<{ frozen: EndedTestSnapshot; ended: EndedResults } | null> => {
  const winner = soleVariant(live);
  const found = winner && (await studio.endedTest(workspace.workspaceId, live.campaign_id, nowMs));
  if (!found) return null;
  const frozen = { ...found.test, campaign: toCampaignJson(found.test.campaign)! };
  const now = await getCampaignResults(store, workspace, frozen.campaign);
  const at = iso(found.endedAtMs);
  return {
    frozen: { ...frozen, campaign: { ...frozen.campaign, ends_at: at } },
    ended: { at, release: found.release, winner: winner.name, since: sinceEnd(frozen, now) },
  };
};

const measureCampaign = async (
  context: WorkspaceContext,
  campaignId: string | undefined,
): Promise<ResultsInput> => {
  const { workspace, store } = context;
  const row = await findCampaignRow(context, campaignId);
  const test = row.published && (await findEndedTest(context, row.published.campaign));
  const campaign = test?.frozen.campaign ?? currentCampaign(row);
  const counts = test?.frozen.counts ?? (await getCampaignResults(store, workspace, campaign));
  const found = await readVersions(context, campaign.campaign_id, counts.days[0]?.day);
  const endedAt = found.findIndex(({ release }) => release === test?.ended.release);
  return { campaign, counts, versions: found.slice(endedAt + 1), ended: test?.ended ?? null };
};

/** Returns the results of a campaign or of the holdout. Throws a 404 if unknown. */
export const resultsIn = async (context: WorkspaceContext, campaignId: string | undefined) => {
  const isHoldout = campaignId !== undefined && isHoldoutId(campaignId);
  const measured = await (isHoldout ? measureHoldout(context) : measureCampaign(context, campaignId));
  return { campaign: measured.campaign, results: toResponse(measured, context) };
};

export const readResults = get(
  '/api/results/{campaignId}',
  'view',
  async (context) => (await resultsIn(context, context.params['campaignId'])).results,
);

export const downloadResults = get('/api/results/{campaignId}/csv', 'view', async (context) => {
  const { campaign, results } = await resultsIn(context, context.params['campaignId']);
  return csvFile('results.csv', resultsCsv(campaign, results));
});

/** Statistics of a campaign in the list. */
export interface CampaignStats {
  /** Number of users who saw a variant. */
  users: number;
  clicked: number;
}

/** Returns the main statistics of every campaign with impressions, by ID. */
export const readCampaignStats = get('/api/campaign-stats', 'view', async ({ store, workspace }) => {
  const found = await store.campaignSummaries(workspace.workspaceId);
  const numbers = Object.fromEntries(
    found.map(({ campaignId, exposed, clicked }): [string, CampaignStats] => [
      campaignId,
      { users: exposed, clicked },
    ]),
  );
  return { numbers };
});
