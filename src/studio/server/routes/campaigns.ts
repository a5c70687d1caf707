import {
  HttpError,
  haltedBy,
  isOfSegment,
  type Release,
  readCampaign,
  type Workspace,
} from '../../../service/index.ts';
import { type CampaignText, storedCampaign } from '../../campaign/campaign-text.ts';
import { labelOf } from '../../campaign/member-words.ts';
import { problemWords } from '../problem-words.ts';
import { defineRoute, type StudioContext } from '../route.ts';

/** What is published of a campaign at this moment. */
export interface Published {
  campaign: CampaignText;
  /** 0 where it is the file's own. */
  release: number;
  author: string;
  at: string | null;
}

export interface DraftRow {
  campaign: CampaignText;
  revision: string;
  basedOn: number;
  editor: string;
  at: string;
}

interface PlannedRelease {
  release: number;
  author: string;
  liveAt: string;
}

export interface CampaignRow {
  id: string;
  published: Published | null;
  draft: DraftRow | null;
  planned: PlannedRelease | null;
  /** The number of the newest release of this campaign, live or not: what a new one has to be based on. */
  newest: number;
  /** It was taken off the list: `published` is what it last said, as stopped. */
  isArchived: boolean;
  /** Why nobody gets it though it is published, or some do not, as a sentence; `null` where nothing holds it back. */
  halted: string | null;
}

/** What the service could not read it said in its log alone: a newer version, or a changed file, may refuse what was published. */
const unreadWords = ({ campaignsAsWritten, placements, segments }: Workspace, id: string): string | null => {
  const text = campaignsAsWritten.find((each) => each['campaign_id'] === id);
  if (!text) return null;
  const placementIds = placements && new Set(placements.map(({ placementId }) => placementId));
  const [problem] = readCampaign(text, { placementIds, segments }).problems;
  if (!problem) return null;
  return `Nobody sees it, as it cannot be read any more. ${problemWords(problem.message)} Open it to see where, and publish it again.`;
};

/** The planned releases of a campaign that will be live: one that a newer release has overtaken never will. */
export const releasesAhead = (planned: readonly Release[], id: string, newest = 0): Release[] =>
  planned.filter(({ campaignId, release }) => campaignId === id && release > newest);

/** A campaign whose texts cost too much for several users is shown to nobody until it changes. */
const haltedWords = (workspace: Workspace, id: string): string | null => {
  const campaign = workspace.campaigns.find(({ campaignId }) => campaignId === id);
  if (!campaign) return unreadWords(workspace, id);
  const halted = haltedBy(campaign);
  if (!halted) return null;
  const why = `${labelOf(halted.error.property)} takes too long to write`;
  if (halted.isForAll) return `Nobody sees it: ${why}. Use fewer or shorter loops, and publish it again.`;
  const who = halted.users === 1 ? 'One person does not see it' : `${halted.users} people do not see it`;
  return `${who}: ${why} with what is known of them.`;
};

const iso = (ms: number) => new Date(ms).toISOString();

/** Every campaign of the workspace: what is published, what is planned, what is being written. */
export const campaignRows = async ({ workspace, studio, nowMs }: StudioContext): Promise<CampaignRow[]> => {
  const { workspaceId } = workspace;
  const [all, planned, drafts] = await Promise.all([
    workspace.campaignsFrom === 'studio' ? studio.liveReleases(workspaceId, nowMs) : [],
    workspace.campaignsFrom === 'studio' ? studio.plannedReleases(workspaceId, nowMs) : [],
    studio.drafts(workspaceId),
  ]);
  const live = all.filter((each) => !isOfSegment(each));
  const written = new Map(workspace.campaignsAsWritten.map((each) => [each['campaign_id'] as string, each]));
  const released = new Map(live.map((each) => [each.campaignId, each]));
  const ids = new Set([
    ...written.keys(),
    ...released.keys(),
    ...planned.map(({ campaignId }) => campaignId),
    ...drafts.map(({ campaignId }) => campaignId),
  ]);
  const isAway = live.some(({ campaign }) => campaign === null);
  const former = new Map(
    (isAway ? await studio.writtenReleases(workspaceId, nowMs) : []).map((each) => [each.campaignId, each]),
  );
  const isArchived = (id: string) => released.get(id)?.campaign === null;
  const lastText = (id: string): CampaignText | null => {
    const text = storedCampaign(former.get(id)?.campaign);
    return text && { ...text, status: 'stopped' };
  };
  const publishedOf = (id: string): Published | null => {
    const release = released.get(id);
    const campaign = release
      ? (storedCampaign(release.campaign) ?? lastText(id))
      : storedCampaign(written.get(id));
    if (!campaign) return null;
    return {
      campaign,
      release: release?.release ?? 0,
      author: release?.author ?? '',
      at: release ? iso(release.liveAtMs) : null,
    };
  };
  return [...ids].flatMap((id) => {
    const draft = drafts.find(({ campaignId }) => campaignId === id);
    const draftText = storedCampaign(draft?.campaign);
    const ahead = releasesAhead(planned, id, released.get(id)?.release);
    const [next] = ahead;
    const published = publishedOf(id);
    if (!published && !draft && !next) return [];
    return [
      {
        id,
        published,
        draft:
          draft && draftText
            ? {
                campaign: draftText,
                revision: draft.revision,
                basedOn: draft.basedOn,
                editor: draft.editor,
                at: iso(draft.updatedAtMs),
              }
            : null,
        planned: next ? { release: next.release, author: next.author, liveAt: iso(next.liveAtMs) } : null,
        isArchived: isArchived(id),
        halted: haltedWords(workspace, id),
        newest: Math.max(released.get(id)?.release ?? 0, ...ahead.map(({ release }) => release)),
      },
    ];
  });
};

export const listCampaigns = defineRoute({
  method: 'GET',
  path: '/api/campaigns',
  role: 'view',
  request: null,
  answer: async (context) => ({ status: 200, body: { campaigns: await campaignRows(context) } }),
});

export const readCampaignRow = defineRoute({
  method: 'GET',
  path: '/api/campaigns/{campaignId}',
  role: 'view',
  request: null,
  answer: async (context) => {
    const row = (await campaignRows(context)).find(({ id }) => id === context.params['campaignId']);
    if (!row) throw new HttpError(404, 'There is no such campaign');
    return { status: 200, body: row };
  },
});
