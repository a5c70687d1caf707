import { isRecord } from '../../protocol/index.ts';
import { findSegmentIds, type Segments } from '../campaigns/audience/segments.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import type { Log } from '../log.ts';
import { hashRelease } from '../workspace/parse-workspace.ts';
import { readCampaign } from '../workspace/read-campaign.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Release } from './releases.ts';

/** Returns the file's segments, replaced by their releases. */
export const getSegments = ({ segments }: Workspace, all: readonly Release[]): Segments => {
  const found = new Map(segments);
  for (const { kind, subjectId: segmentId, content } of all) {
    if (kind !== 'segment') continue;
    if (content === null) found.delete(segmentId);
    else found.set(segmentId, { segmentId, name: content.name, filter: content.audience });
  }
  return found;
};

export const getCampaignId = (campaign: Record<string, unknown>) => String(campaign['campaign_id']);

/** Returns the file's campaigns, replaced by their releases, followed by campaigns that have only releases. */
const getRawCampaigns = (workspace: Workspace, releases: readonly Release[]): Record<string, unknown>[] => {
  const released = new Map(releases.map((each) => [each.subjectId, each.content]));
  const ids = [...workspace.rawCampaigns.map(getCampaignId), ...releases.map(({ subjectId }) => subjectId)];
  const inFile = new Map(workspace.rawCampaigns.map((each) => [getCampaignId(each), each]));
  return [...new Set(ids)].flatMap((id) => {
    const campaign = released.has(id) ? released.get(id) : inFile.get(id);
    return isRecord(campaign) ? [campaign] : [];
  });
};

/** Returns the cache key of a compiled campaign: its content and all other compiler input except the file. */
const getCacheKey = (
  content: Record<string, unknown>,
  publishedAtMs: number | null,
  segments: Segments,
): string =>
  JSON.stringify([
    content,
    publishedAtMs,
    findSegmentIds(content['audience']).map((id) => segments.get(id)?.filter ?? null),
  ]);

/** Compiled campaigns by cache key. A release changes one campaign, so the others are reused. */
const ready = new WeakMap<Workspace, ReadonlyMap<string, Campaign>>();

const compileWorkspace = ({
  campaigns,
  rawCampaigns,
  segments,
}: Workspace): ReadonlyMap<string, Campaign> => {
  const byId = new Map(campaigns.map((campaign) => [campaign.campaignId, campaign]));
  return new Map(
    rawCampaigns.flatMap((content) => {
      const campaign = byId.get(getCampaignId(content));
      return campaign ? [[getCacheKey(content, campaign.publishedAtMs, segments), campaign]] : [];
    }),
  );
};

/** Returns the workspace file with its live releases applied. */
export const withReleases = (workspace: Workspace, all: readonly Release[], log: Log): Workspace => {
  if (all.length === 0) return workspace;
  const segments = getSegments(workspace, all);
  const releases = all.filter(({ kind }) => kind === 'campaign');
  const rawCampaigns = getRawCampaigns(workspace, releases);
  const placementIds = workspace.placements && new Set(workspace.placements.map((each) => each.placementId));
  const liveAtMs = new Map(releases.map((each) => [each.subjectId, each.liveAtMs]));
  const previous = ready.get(workspace) ?? compileWorkspace(workspace);
  const compiled = new Map<string, Campaign>();
  const campaigns = rawCampaigns.flatMap((content) => {
    const publishedAtMs = liveAtMs.get(getCampaignId(content)) ?? null;
    const cacheKey = getCacheKey(content, publishedAtMs, segments);
    const cached = previous.get(cacheKey);
    if (cached) {
      compiled.set(cacheKey, cached);
      return [cached];
    }
    const { campaign, problems } = readCampaign(content, { placementIds, segments, publishedAtMs });
    if (campaign) {
      compiled.set(cacheKey, campaign);
      return [campaign];
    }
    // The release was valid when published. Since then, for example, a placement may have been removed from the file.
    const problem = problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    log.error(
      { workspace: workspace.workspaceId, campaign: getCampaignId(content), problem },
      'release not shown',
    );
    return [];
  });
  ready.set(workspace, compiled);
  const mayBeAsked = placementIds ?? new Set(campaigns.flatMap(({ placements }) => [...placements]));
  return {
    ...workspace,
    segments,
    campaigns,
    rawCampaigns,
    placementIds: mayBeAsked,
    release: hashRelease(workspace.release, all.map(({ release }) => release).sort()),
  };
};
