import {
  getSuspension,
  HttpError,
  type Release,
  readCampaign,
  type StoredDraft,
  type Workspace,
} from '../../../service/index.ts';
import { type CampaignJson, toCampaignJson } from '../../campaign/campaign-json.ts';
import { getFieldLabel } from '../../campaign/describe-fields.ts';
import { describeIssue } from '../describe-issue.ts';
import { get, iso, type WorkspaceContext } from '../route.ts';

/** Live version of a campaign. */
export interface Published {
  campaign: CampaignJson;
  /** Release number; 0 if from the workspace file. */
  release: number;
  author: string;
  at: string | null;
}

export const toDraftResponse = ({
  campaign,
  revision,
  basedOn,
  editor,
  updatedAtMs,
  review,
}: StoredDraft) => ({
  campaign: toCampaignJson(campaign)!,
  revision,
  basedOn,
  editor,
  at: iso(updatedAtMs),
  review,
});
export type DraftResponse = ReturnType<typeof toDraftResponse>;

/** Release that is not live yet. */
export interface ScheduledRelease {
  release: number;
  campaign: CampaignJson;
  author: string;
  liveAt: string;
  /** Condition that, before the release goes live, stops the campaign; `null` if none. */
  stopIf: Release['stopIf'];
}

export interface CampaignVersions {
  id: string;
  published: Published | null;
  draft: DraftResponse | null;
  /** Scheduled releases, soonest first. */
  scheduled: ScheduledRelease[];
  /** Number of the newest release of the campaign, live or not. The next release must be based on it. */
  newest: number;
  /** Whether the campaign is archived. `published` is then its last version with the status `stopped`. */
  isArchived: boolean;
  /** Sentence with the reason that users do not get the published campaign; `null` if nothing blocks it. */
  halted: string | null;
}

/**
 * Returns the reason that the service cannot load a release; `null` if it can. Another version of the service or a changed
 * workspace file can make a release invalid, which the service only logs.
 */
const describeUnreadable = (
  { rawCampaigns: campaignsAsWritten, placements, segments }: Workspace,
  id: string,
): string | null => {
  const text = campaignsAsWritten.find((each) => each['campaign_id'] === id);
  if (!text) return null;
  const placementIds = placements && new Set(placements.map(({ placementId }) => placementId));
  const [problem] = readCampaign(text, { placementIds, segments }).problems;
  if (!problem) return null;
  return `Not shown: the release is invalid. ${describeIssue(problem)} Fix it and publish again.`;
};

/** Describes a halt. The service halts a campaign whose texts exceed the render limit for several users, until it changes. */
export const describeHalt = (workspace: Workspace, id: string): string | null => {
  const campaign = workspace.campaigns.find(({ campaignId }) => campaignId === id);
  if (!campaign) return describeUnreadable(workspace, id);
  const halted = getSuspension(campaign);
  if (!halted) return null;
  const why = `${getFieldLabel(halted.error.property)} takes too long to render`;
  if (halted.isForAll) return `Not shown: ${why}. Use fewer or shorter loops, and publish again.`;
  const who = halted.users === 1 ? 'Not shown to 1 user' : `Not shown to ${halted.users} users`;
  return `${who}: ${why} with their profile.`;
};

/** Returns all campaigns of the workspace with their live versions, scheduled releases and drafts. */
export const campaignRows = async ({
  workspace,
  studio,
  nowMs,
}: Omit<WorkspaceContext, 'store'>): Promise<CampaignVersions[]> => {
  const { workspaceId } = workspace;
  const hasReleases = workspace.campaignsFrom === 'studio';
  const ofCampaigns = (all: Release[]) => all.filter(({ kind }) => kind === 'campaign');
  const [live, ahead, newest, drafts] = await Promise.all([
    hasReleases ? studio.liveReleases(workspaceId, nowMs).then(ofCampaigns) : [],
    hasReleases ? studio.scheduledReleases(workspaceId, nowMs).then(ofCampaigns) : [],
    hasReleases ? studio.newestReleases(workspaceId, 'campaign') : new Map<string, number>(),
    studio.drafts(workspaceId),
  ]);
  const written = new Map(workspace.rawCampaigns.map((each) => [String(each['campaign_id']), each]));
  const released = new Map(live.map((each) => [each.subjectId, each]));
  const scheduled = Map.groupBy(ahead, ({ subjectId }) => subjectId);
  const drafted = new Map(drafts.map((each) => [each.campaignId, each]));
  const ids = new Set([...written.keys(), ...released.keys(), ...scheduled.keys(), ...drafted.keys()]);
  const isAway = live.some(({ content }) => content === null);
  const former = new Map(
    (isAway ? await studio.writtenReleases(workspaceId, nowMs).then(ofCampaigns) : []).map((each) => [
      each.subjectId,
      each,
    ]),
  );
  const isArchived = (id: string) => released.get(id)?.content === null;
  const lastText = (id: string): CampaignJson | null => {
    const text = toCampaignJson(former.get(id)?.content);
    return text && { ...text, status: 'stopped' };
  };
  const getPublished = (id: string): Published | null => {
    const release = released.get(id);
    const campaign = release
      ? (toCampaignJson(release.content) ?? lastText(id))
      : toCampaignJson(written.get(id));
    if (!campaign) return null;
    return {
      campaign,
      release: release?.release ?? 0,
      author: release?.author ?? '',
      at: release ? iso(release.liveAtMs) : null,
    };
  };
  const getDraft = (id: string): DraftResponse | null => {
    const draft = drafted.get(id);
    return draft ? toDraftResponse(draft) : null;
  };
  const getScheduled = (id: string): ScheduledRelease[] =>
    (scheduled.get(id) ?? []).flatMap(({ release, content, author, liveAtMs, stopIf }) => {
      const campaign = toCampaignJson(content);
      return campaign ? [{ release, campaign, author, liveAt: iso(liveAtMs), stopIf }] : [];
    });
  return [...ids].flatMap((id) => {
    const row: CampaignVersions = {
      id,
      published: getPublished(id),
      draft: getDraft(id),
      scheduled: getScheduled(id),
      isArchived: isArchived(id),
      halted: describeHalt(workspace, id),
      newest: newest.get(id) ?? 0,
    };
    return row.published || row.draft || row.scheduled.length > 0 ? [row] : [];
  });
};

export const listCampaigns = get('/api/campaigns', 'view', async (context) => ({
  campaigns: await campaignRows(context),
}));

/** Returns a campaign. Throws a 404 if it is unknown. */
export const findCampaignRow = async (
  context: WorkspaceContext,
  campaignId: string | undefined,
): Promise<CampaignVersions> => {
  const row = (await campaignRows(context)).find(({ id }) => id === campaignId);
  if (!row) throw new HttpError(404, 'Campaign not found');
  return row;
};

export const readCampaignRow = get('/api/campaigns/{campaignId}', 'view', (context) =>
  findCampaignRow(context, context.params['campaignId']),
);
