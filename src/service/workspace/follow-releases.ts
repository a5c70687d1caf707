import { isRecord } from '../../protocol/index.ts';
import type { Filter } from '../campaigns/audience/audience.ts';
import { type Segments, segmentsIn } from '../campaigns/audience/segments.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import { errorFacts, type Log } from '../log.ts';
import type { Release, StudioStore } from '../operators/index.ts';
import { readCampaign } from './read-campaign.ts';
import type { WorkspaceSource } from './watch-workspaces.ts';
import type { Workspace } from './workspace.ts';
import { createRegistry, type Registry } from './workspace.ts';

/** All replicas follow a release within two seconds. */
const POLL_MS = 1_000;

interface FollowOptions {
  log: Log;
  pollMs?: number;
  now?: () => number;
}

/** A source whose workspaces have the released campaigns. */
export interface ReleasedSource extends WorkspaceSource {
  /** Looks for new releases now; after publishing, so that the next request sees it. */
  refresh(): Promise<void>;
}

const SEGMENT = '@segment:';
/** What a segment is called among the releases, which it has as campaigns do. No campaign's ID begins with an @. */
export const segmentReleaseId = (segmentId: string): string => SEGMENT + segmentId;
export const isOfSegment = ({ campaignId }: Pick<Release, 'campaignId'>): boolean =>
  campaignId.startsWith(SEGMENT);

/** A segment as it is released. */
export interface ReleasedSegment {
  name: string;
  audience: Filter;
}

/** The file's segments, each replaced by its release where there is one. */
export const segmentsOf = ({ segments }: Workspace, all: readonly Release[]): Segments => {
  const releases = all.filter(isOfSegment);
  const found = new Map(segments);
  for (const { campaignId, campaign } of releases) {
    const segmentId = campaignId.slice(SEGMENT.length);
    if (campaign === null) found.delete(segmentId);
    else {
      const { name, audience: filter } = campaign as ReleasedSegment;
      found.set(segmentId, { segmentId, name, filter });
    }
  }
  return found;
};

const idOf = (campaign: Record<string, unknown>) => String(campaign['campaign_id']);

/** The file's campaigns, each replaced by its release where there is one, then those that only have releases. */
const written = (workspace: Workspace, releases: readonly Release[]): Record<string, unknown>[] => {
  const released = new Map(releases.map((each) => [each.campaignId, each.campaign]));
  const ids = [...workspace.campaignsAsWritten.map(idOf), ...releases.map(({ campaignId }) => campaignId)];
  const inFile = new Map(workspace.campaignsAsWritten.map((each) => [idOf(each), each]));
  return [...new Set(ids)].flatMap((id) => {
    const campaign = released.has(id) ? released.get(id) : inFile.get(id);
    return isRecord(campaign) ? [campaign] : [];
  });
};

/** What a campaign is made of, beside what the file says: where that is the same, it stays as it is. */
const madeOf = (content: Record<string, unknown>, publishedAtMs: number | null, segments: Segments): string =>
  JSON.stringify([
    content,
    publishedAtMs,
    segmentsIn(content['audience']).map((id) => segments.get(id)?.filter ?? null),
  ]);

/** The campaigns that are ready, by what they are made of. A release changes one of them: the others are not made again. */
const ready = new WeakMap<Workspace, ReadonlyMap<string, Campaign>>();

const readyIn = ({ campaigns, campaignsAsWritten, segments }: Workspace): ReadonlyMap<string, Campaign> => {
  const byId = new Map(campaigns.map((campaign) => [campaign.campaignId, campaign]));
  return new Map(
    campaignsAsWritten.flatMap((content) => {
      const campaign = byId.get(idOf(content));
      return campaign ? [[madeOf(content, campaign.publishedAtMs, segments), campaign]] : [];
    }),
  );
};

const withReleases = (workspace: Workspace, all: readonly Release[], log: Log): Workspace => {
  if (all.length === 0) return workspace;
  const segments = segmentsOf(workspace, all);
  const releases = all.filter((each) => !isOfSegment(each));
  const campaignsAsWritten = written(workspace, releases);
  const placementIds = workspace.placements && new Set(workspace.placements.map((each) => each.placementId));
  const liveAtMs = new Map(releases.map((each) => [each.campaignId, each.liveAtMs]));
  const before = ready.get(workspace) ?? readyIn(workspace);
  const after = new Map<string, Campaign>();
  const campaigns = campaignsAsWritten.flatMap((content) => {
    const publishedAtMs = liveAtMs.get(idOf(content)) ?? null;
    const text = madeOf(content, publishedAtMs, segments);
    const known = before.get(text);
    if (known) {
      after.set(text, known);
      return [known];
    }
    const { campaign, problems } = readCampaign(content, { placementIds, segments, publishedAtMs });
    if (campaign) {
      after.set(text, campaign);
      return [campaign];
    }
    // It was right when it was published: since then the file has lost a placement it names, for example.
    const problem = problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    log.error({ workspace: workspace.workspaceId, campaign: idOf(content), problem }, 'release not shown');
    return [];
  });
  ready.set(workspace, after);
  const mayBeAsked = placementIds ?? new Set(campaigns.flatMap(({ placements }) => [...placements]));
  return { ...workspace, segments, campaigns, campaignsAsWritten, placementIds: mayBeAsked };
};

/**
 * Puts the Studio's releases in the place of the file's campaigns, for workspaces that say `campaigns_from: "studio"`,
 * and keeps looking for new ones. Rejects where the database cannot be read at the start; later the last ones stay.
 */
export const followReleases = async (
  source: WorkspaceSource,
  studio: StudioStore,
  { log, pollMs = POLL_MS, now = Date.now }: FollowOptions,
): Promise<ReleasedSource> => {
  /** By workspace. Releases are only ever added: nothing changes until there is a newer one, or a planned one is due. */
  let releases = new Map<string, { newest: number; readAtMs: number; dueAtMs: number; live: Release[] }>();
  let shown: { of: Registry; releases: unknown; registry: Registry } | undefined;

  const readNow = async () => {
    const time = now();
    const followed = source.registry().workspaces.filter(({ campaignsFrom }) => campaignsFrom === 'studio');
    const found = await Promise.all(
      followed.map(async ({ workspaceId }) => {
        const known = releases.get(workspaceId);
        const newest = await studio.newestRelease(workspaceId);
        const isSame = known?.newest === newest && known.readAtMs <= time && time < known.dueAtMs;
        if (isSame) return [workspaceId, known] as const;
        const live = await studio.liveReleases(workspaceId, time);
        const [next] = await studio.plannedReleases(workspaceId, time);
        const dueAtMs = next?.liveAtMs ?? Number.POSITIVE_INFINITY;
        return [workspaceId, { newest, readAtMs: time, dueAtMs, live }] as const;
      }),
    );
    const isSame = found.length === releases.size && found.every(([id, read]) => releases.get(id) === read);
    if (!isSame) releases = new Map(found);
  };

  let reading: Promise<void> = Promise.resolve();
  /** One after the other: a slow look that began before a campaign was published would put the older releases back. */
  const read = (): Promise<void> => {
    reading = reading.then(readNow, readNow);
    return reading;
  };

  let isStopped = false;
  let isSilent = false;
  const look = async () => {
    try {
      await read();
      isSilent = false;
    } catch (error) {
      if (!isSilent) log.warn(errorFacts(error), 'releases not read: the last ones stay in use');
      isSilent = true;
    }
  };
  const schedule = () => {
    const timer = setTimeout(async () => {
      await look();
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
      const of = source.registry();
      if (shown?.of !== of || shown.releases !== releases) {
        const workspaces = of.workspaces.map((workspace) =>
          withReleases(workspace, releases.get(workspace.workspaceId)?.live ?? [], log),
        );
        const registry = createRegistry(workspaces.map((workspace) => ({ workspace, source: 'releases' })));
        shown = { of, releases, registry };
      }
      return shown.registry;
    },
    refresh: read,
    stop() {
      isStopped = true;
      stopTimer();
      source.stop();
    },
  };
};
