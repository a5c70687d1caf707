import type { Release } from '../../../service/index.ts';
import type { CampaignText } from '../../campaign/campaign-text.ts';
import type { StudioRoute } from '../route.ts';

const PAGE = 50;

export interface ReleaseRow {
  release: number;
  campaignId: string;
  campaign: CampaignText | null;
  basedOn: number;
  author: string;
  note: string;
  at: string;
  liveAt: string;
}

export interface ReleasesAnswer {
  /** Newest first. */
  releases: ReleaseRow[];
  /** What to ask for next; `null` at the end. */
  before: number | null;
}

const iso = (ms: number) => new Date(ms).toISOString();

export const releaseRow = (release: Release): ReleaseRow => ({
  release: release.release,
  campaignId: release.campaignId,
  campaign: release.campaign as CampaignText | null,
  basedOn: release.basedOn,
  author: release.author,
  note: release.note,
  at: iso(release.createdAtMs),
  liveAt: iso(release.liveAtMs),
});

export const listReleases: StudioRoute = {
  method: 'GET',
  path: '/api/releases',
  role: 'view',
  answer: async ({ studio, workspace, query }) => {
    const before = Number(query.get('before') ?? Number.NaN);
    const campaignId = query.get('campaign');
    const releases = await studio.releases(workspace.workspaceId, {
      limit: PAGE,
      ...(Number.isSafeInteger(before) && { before }),
      ...(campaignId && { campaignId }),
    });
    const body: ReleasesAnswer = {
      releases: releases.map(releaseRow),
      before: releases.length === PAGE ? releases.at(-1)!.release : null,
    };
    return { status: 200, body };
  },
};
