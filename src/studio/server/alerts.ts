import type { Alert, Campaign, Store, Workspace } from '../../service/index.ts';
import { toCampaignJson } from '../campaign/campaign-json.ts';
import { getShares } from '../campaign/shares.ts';
import { compareSampleRatio } from '../statistics/compare.ts';
import type { WorkspaceContext } from './route.ts';
import { describeHalt } from './routes/campaigns.ts';
import { resultsIn } from './routes/results.ts';

/** Returns whether the campaign has been running since before `ms`. */
const isRunningSince = (
  { status, startsAtMs, endsAtMs, publishedAtMs }: Campaign,
  ms: number,
  nowMs: number,
) =>
  status === 'active' &&
  Math.max(startsAtMs ?? 0, publishedAtMs ?? 0) < ms &&
  nowMs < (endsAtMs ?? Number.POSITIVE_INFINITY);

/** Returns whether a campaign has an SRM. Reads the full results only if the current counts do not exclude one. */
const hasMismatch = async (
  context: WorkspaceContext,
  raw: Record<string, unknown>,
  counted: readonly { variantId: string | null; exposed: number }[],
): Promise<boolean> => {
  const campaign = toCampaignJson(raw)!;
  const arms = getShares(campaign).map(({ variantId, percent: share }) => ({
    share,
    exposed: counted.find((arm) => arm.variantId === variantId)?.exposed ?? 0,
  }));
  if (!compareSampleRatio(arms)?.isSuspicious) return false;
  const { ended, ratio } = (await resultsIn(context, campaign.campaign_id)).results;
  return ended === null && ratio !== null && ratio.isSuspicious;
};

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
    if (!campaign || !summary) continue;
    const isSilent = summary.exposed > 0 && summary.dayImpressions === 0;
    if (isSilent && isRunningSince(campaign, calendar.startOf(yesterday), nowMs))
      add(
        'no_impressions',
        'No impressions today or yesterday, although the campaign is live and had some before.',
      );
    if (campaign.status === 'active' && (await hasMismatch(context, raw, summary.arms)))
      add(
        'sample_ratio_mismatch',
        'Group sizes differ from the planned split. Find the cause before trusting the results.',
      );
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
