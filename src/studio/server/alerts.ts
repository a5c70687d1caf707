import type { Alert, Campaign, CampaignSummary, Store, Workspace } from '../../service/index.ts';
import { type CampaignJson, toCampaignJson } from '../campaign/campaign-json.ts';
import { getShares } from '../campaign/shares.ts';
import { compareSampleRatio, MIN_USERS } from '../statistics/compare.ts';
import { describeLossesToControl } from '../statistics/sentences.ts';
import type { WorkspaceContext } from './route.ts';
import { describeHalt } from './routes/campaigns.ts';
import { type ResultsResponse, resultsIn } from './routes/results.ts';

const isLive = ({ status, endsAtMs }: Campaign, nowMs: number) =>
  status === 'active' && nowMs < (endsAtMs ?? Number.POSITIVE_INFINITY);

/** Returns the later of start and publication. */
const getBeginningMs = ({ startsAtMs, publishedAtMs }: Campaign) =>
  Math.max(startsAtMs ?? 0, publishedAtMs ?? 0);

interface ResultAlert {
  type: Alert['type'];
  /** Returns whether the numbers of users do not exclude the alert. Only then are the full results read. */
  isPossible(campaign: CampaignJson, arms: CampaignSummary['arms']): boolean;
  /** Returns the problem with its fix; `null` if none. */
  describe(results: ResultsResponse): string | null;
}

/** Alerts of the results of live campaigns. */
const RESULT_ALERTS: readonly ResultAlert[] = [
  {
    type: 'sample_ratio_mismatch',
    isPossible(campaign, counted) {
      const arms = getShares(campaign).map(({ variantId, percent: share }) => ({
        share,
        exposed: counted.find((arm) => arm.variantId === variantId)?.exposed ?? 0,
      }));
      return compareSampleRatio(arms)?.isSuspicious ?? false;
    },
    describe: ({ ratio }) =>
      ratio?.isSuspicious
        ? 'Group sizes differ from the planned split. Find the cause before trusting the results.'
        : null,
  },
  {
    type: 'goal_below_control',
    isPossible: ({ conversions }, arms) =>
      (conversions ?? []).length > 0 &&
      arms.some(({ variantId, exposed }) => variantId === null && exposed >= MIN_USERS),
    describe(results) {
      const losses = describeLossesToControl(results);
      return losses.length > 0
        ? `${losses.join(' ')} Stop the campaign, which also cancels its scheduled releases.`
        : null;
    },
  },
];

const campaignAlerts = async (context: WorkspaceContext): Promise<Alert[]> => {
  const { workspace, store, nowMs } = context;
  const { calendar, workspaceId } = workspace;
  const today = calendar.toDay(nowMs);
  const yesterday = calendar.toDay(calendar.startOf(today) - 1);
  const summaries = await store.campaignSummaries(workspaceId, [today, yesterday]);
  const alerts: Alert[] = [];
  for (const raw of workspace.rawCampaigns) {
    const campaignId = String(raw['campaign_id']);
    const campaign = workspace.campaigns.find((each) => each.campaignId === campaignId);
    const add = (type: Alert['type'], message: string) =>
      alerts.push({
        id: `${type}:${campaignId}`,
        type,
        subjectId: campaignId,
        subjectName: campaign?.name ?? campaignId,
        message,
      });
    const halted = describeHalt(workspace, campaignId);
    if (halted !== null) add('campaign_halted', halted);
    const summary = summaries.find((each) => each.campaignId === campaignId);
    if (!campaign || !summary || !isLive(campaign, nowMs)) continue;
    const isSilent = summary.exposed > 0 && summary.dayImpressions === 0;
    if (isSilent && getBeginningMs(campaign) < calendar.startOf(yesterday))
      add(
        'no_impressions',
        'No impressions today or yesterday, although the campaign is live and had some before.',
      );
    const json = toCampaignJson(raw)!;
    const possible = RESULT_ALERTS.filter(({ isPossible }) => isPossible(json, summary.arms));
    if (possible.length === 0) continue;
    const { results } = await resultsIn(context, campaignId);
    if (results.ended !== null) continue;
    for (const { type, describe } of possible) {
      const message = describe(results);
      if (message !== null) add(type, message);
    }
  }
  return alerts;
};

/** Returns alerts of integrations whose last finished run failed. */
const integrationAlerts = async ({ workspace, store }: WorkspaceContext): Promise<Alert[]> => {
  const { workspaceId } = workspace;
  const running = (workspace.integrations ?? []).filter(({ source }) => source !== null);
  if (running.length === 0) return [];
  const last = await store.ingestion.lastRuns(workspaceId);
  const alerts: Alert[] = [];
  for (const { record } of running) {
    const { integration_id: id } = record;
    const newest = last.find(({ integrationId }) => integrationId === id);
    const [, former] =
      newest?.status === 'running' ? await store.ingestion.runs(workspaceId, id, { limit: 2 }) : [];
    const run = former ?? newest;
    if (run?.status !== 'error') continue;
    alerts.push({
      id: `integration_failed:${id}`,
      type: 'integration_failed',
      subjectId: id,
      subjectName: record.integration_name || id,
      message: `The last run failed${run.message ? `: ${run.message}` : ''}`,
    });
  }
  return alerts;
};

/** Returns the alerts of a workspace. Derives them at each call, so that no alert outlasts its cause. */
export const readAlerts = async (
  workspace: Workspace,
  store: Store,
  nowMs: number,
): Promise<readonly Alert[]> => {
  const context = { workspace, store, studio: store.studio, nowMs };
  return [...(await campaignAlerts(context)), ...(await integrationAlerts(context))];
};
