import {
  type Log,
  type Release,
  type ReleaseSource,
  repeatUntilAborted,
  type Store,
  serializeError,
} from '../../service/index.ts';
import { describeLossesToControl } from '../statistics/sentences.ts';
import type { WorkspaceContext } from './route.ts';
import { resultsIn } from './routes/results.ts';

/** Interval between evaluations, in milliseconds. */
const POLL_MS = 60_000;

/** Stops the live campaign of a scheduled release if a goal is below the control group. Returns the number of the new release. */
const stopIfBelowControl = async (
  context: WorkspaceContext,
  { subjectId, author, release }: Release,
): Promise<number | null> => {
  const { workspace, studio, nowMs } = context;
  const { workspaceId } = workspace;
  const live = workspace.rawCampaigns.find((each) => each['campaign_id'] === subjectId);
  if (live?.['status'] !== 'active') return null;
  const { results } = await resultsIn(context, subjectId);
  const losses = describeLossesToControl(results);
  if (results.ended !== null || losses.length === 0) return null;
  const newest = await studio.newestReleases(workspaceId, 'campaign');
  // Read after the newest release: if another replica has stopped the campaign, it has also canceled this one.
  if ((await studio.release(workspaceId, release))?.cancelledAtMs !== null) return null;
  return studio.addRelease(
    {
      workspaceId,
      kind: 'campaign',
      subjectId,
      content: { ...live, status: 'stopped' },
      basedOn: newest.get(subjectId) ?? 0,
      author,
      note: `Automatic stop, set with release ${release}. ${losses.join(' ')}`,
      createdAtMs: nowMs,
      liveAtMs: nowMs,
    },
    {
      cancelsScheduled: true,
      audit: (number) => ({
        workspaceId,
        atMs: nowMs,
        operator: author,
        action: 'campaign.stop',
        subject: subjectId,
        details: `automatically, as release ${number}`,
      }),
    },
  );
};

interface StopRolloutsOptions {
  workspaces: Pick<ReleaseSource, 'registry' | 'refresh'>;
  store: Store;
  log: Log;
}

/** Stops the campaigns whose scheduled releases have a stop condition that is met. Replicas may run it at the same time. */
export const stopRollouts = async ({ workspaces, store, log }: StopRolloutsOptions, nowMs: number) => {
  const { studio } = store;
  for (const workspace of workspaces.registry().workspaces) {
    if (workspace.campaignsFrom !== 'studio') continue;
    const scheduled = await studio.scheduledReleases(workspace.workspaceId, nowMs);
    const guarded = new Map(
      scheduled.flatMap((each) => (each.stopIf === null ? [] : [[each.subjectId, each]])),
    );
    for (const release of guarded.values()) {
      const stopped = await stopIfBelowControl({ workspace, store, studio, nowMs }, release);
      if (stopped === null) continue;
      const fields = { workspace: workspace.workspaceId, campaign: release.subjectId, release: stopped };
      log.info(fields, 'campaign stopped: goal below control group');
      await workspaces.refresh();
    }
  }
};

/** Evaluates the stop conditions of scheduled releases every minute. Returns a function that ends this. */
export const startRolloutStops = (options: StopRolloutsOptions): (() => Promise<void>) => {
  const stopping = new AbortController();
  const polling = repeatUntilAborted(() => stopRollouts(options, Date.now()), {
    everyMs: POLL_MS,
    signal: stopping.signal,
    onError: (error) => options.log.error(serializeError(error), 'stop conditions not evaluated'),
  });
  return () => {
    stopping.abort();
    return polling;
  };
};
