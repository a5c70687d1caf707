import { type Log, serializeError } from '../log.ts';
import type { WorkspaceSource } from '../workspace/watch-workspaces.ts';
import { createRegistry, type Registry } from '../workspace/workspace.ts';
import { getCampaignId, withReleases } from './compile-releases.ts';
import type { Release, ReleaseState, ReleaseStore } from './releases.ts';

/** Polling interval. All replicas apply a release within two seconds. */
const POLL_MS = 1_000;

interface FollowOptions {
  log: Log;
  pollMs?: number;
  now?: () => number;
}

/** Source of workspaces that include the released campaigns. */
export interface ReleaseSource extends WorkspaceSource {
  /** Polls for new releases now. Call it after publishing, so that the next request sees the release. */
  refresh(): Promise<void>;
}

/**
 * Replaces the file's campaigns with the Studio's releases in workspaces with `campaigns_from: "studio"`, and polls for new
 * releases. Rejects if the first database read fails. If a later read fails, the last releases stay.
 */
export const watchReleases = async (
  source: WorkspaceSource,
  studio: ReleaseStore,
  { log, pollMs = POLL_MS, now = Date.now }: FollowOptions,
): Promise<ReleaseSource> => {
  /** Releases by workspace ID. The live releases change only if `newest` or `dueAtMs` changes. */
  let releases = new Map<string, ReleaseState & { live: Release[] }>();
  let cached: { base: Registry; releases: unknown; registry: Registry } | undefined;

  const readNow = async () => {
    const time = now();
    const followed = source.registry().workspaces.filter(({ campaignsFrom }) => campaignsFrom === 'studio');
    const found = await Promise.all(
      followed.map(async ({ workspaceId }) => {
        const previous = releases.get(workspaceId);
        const state = await studio.releaseState(workspaceId, time);
        const isSame = previous?.newest === state.newest && previous.dueAtMs === state.dueAtMs;
        if (isSame) return [workspaceId, previous] as const;
        return [workspaceId, { ...state, live: await studio.liveReleases(workspaceId, time) }] as const;
      }),
    );
    const isSame = found.length === releases.size && found.every(([id, read]) => releases.get(id) === read);
    if (!isSame) releases = new Map(found);
  };

  /** Warns about edits in the file to campaigns that the Studio has released, because such edits have no effect. */
  const warnOfEdits = (before: Registry, after: Registry) => {
    for (const { workspaceId, rawCampaigns } of after.workspaces) {
      const previous = before.workspaces.find((each) => each.workspaceId === workspaceId);
      const released = new Set(
        releases
          .get(workspaceId)
          ?.live.flatMap(({ kind, subjectId }) => (kind === 'campaign' ? [subjectId] : [])),
      );
      for (const rawCampaign of rawCampaigns) {
        const campaign = getCampaignId(rawCampaign);
        if (!previous || !released.has(campaign)) continue;
        const was = previous.rawCampaigns.find((each) => getCampaignId(each) === campaign);
        if (JSON.stringify(was) === JSON.stringify(rawCampaign)) continue;
        log.warn(
          { workspace: workspaceId, campaign, name: rawCampaign['name'] },
          'file edit ignored: the Studio has released this campaign, edit it there',
        );
      }
    }
  };

  let reading: Promise<void> = Promise.resolve();
  /** Reads one at a time, because a slow read that started before a publication would restore the older releases. */
  const read = (): Promise<void> => {
    reading = reading.then(readNow, readNow);
    return reading;
  };

  let isStopped = false;
  let isSilent = false;
  const poll = async () => {
    try {
      await read();
      isSilent = false;
    } catch (error) {
      if (!isSilent) log.warn(serializeError(error), 'releases not read: previous ones stay in use');
      isSilent = true;
    }
  };
  const schedule = () => {
    const timer = setTimeout(async () => {
      await poll();
      if (!isStopped) schedule();
    }, pollMs);
    timer.unref();
    stopTimer = () => clearTimeout(timer);
  };
  let stopTimer: () => void = () => undefined;

  await read();
  schedule();
  return {
    registry() {
      const base = source.registry();
      if (cached?.base !== base || cached.releases !== releases) {
        const workspaces = base.workspaces.map((workspace) =>
          withReleases(workspace, releases.get(workspace.workspaceId)?.live ?? [], log),
        );
        const registry = createRegistry(workspaces.map((workspace) => ({ workspace, source: 'releases' })));
        if (cached && cached.base !== base) warnOfEdits(cached.base, base);
        cached = { base, releases, registry };
      }
      return cached.registry;
    },
    isEditRejected: () => source.isEditRejected?.() ?? false,
    refresh: read,
    stop() {
      isStopped = true;
      stopTimer();
      source.stop();
    },
  };
};
