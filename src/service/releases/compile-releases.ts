import { isRecord } from '../../protocol/index.ts';
import type { Filter } from '../campaigns/audience/audience.ts';
import { type Segments, segmentsIn } from '../campaigns/audience/segments.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import type { Log } from '../log.ts';
import { readCampaign } from '../workspace/read-campaign.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Release } from './releases.ts';

/** A segment as it is released. */
export interface ReleasedSegment {
  name: string;
  audience: Filter;
}

/** The file's segments, each replaced by its release where there is one. */
export const segmentsOf = ({ segments }: Workspace, all: readonly Release[]): Segments => {
  const found = new Map(segments);
  for (const { kind, subjectId: segmentId, content } of all) {
    if (kind !== 'segment') continue;
    if (content === null) found.delete(segmentId);
    else {
      const { name, audience: filter } = content as ReleasedSegment;
      found.set(segmentId, { segmentId, name, filter });
    }
  }
  return found;
};

export const idOf = (campaign: Record<string, unknown>) => String(campaign['campaign_id']);

/** The file's campaigns, each replaced by its release where there is one, then those that only have releases. */
const written = (workspace: Workspace, releases: readonly Release[]): Record<string, unknown>[] => {
  const released = new Map(releases.map((each) => [each.subjectId, each.content]));
  const ids = [...workspace.rawCampaigns.map(idOf), ...releases.map(({ subjectId }) => subjectId)];
  const inFile = new Map(workspace.rawCampaigns.map((each) => [idOf(each), each]));
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

const readyIn = ({
  campaigns,
  rawCampaigns: campaignsAsWritten,
  segments,
}: Workspace): ReadonlyMap<string, Campaign> => {
  const byId = new Map(campaigns.map((campaign) => [campaign.campaignId, campaign]));
  return new Map(
    campaignsAsWritten.flatMap((content) => {
      const campaign = byId.get(idOf(content));
      return campaign ? [[madeOf(content, campaign.publishedAtMs, segments), campaign]] : [];
    }),
  );
};

/** The workspace as it is served: the file with the live releases. */
export const withReleases = (workspace: Workspace, all: readonly Release[], log: Log): Workspace => {
  if (all.length === 0) return workspace;
  const segments = segmentsOf(workspace, all);
  const releases = all.filter(({ kind }) => kind === 'campaign');
  const campaignsAsWritten = written(workspace, releases);
  const placementIds = workspace.placements && new Set(workspace.placements.map((each) => each.placementId));
  const liveAtMs = new Map(releases.map((each) => [each.subjectId, each.liveAtMs]));
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
  return { ...workspace, segments, campaigns, rawCampaigns: campaignsAsWritten, placementIds: mayBeAsked };
};
