import { type Campaign, campaignOrder, readCampaign, type Workspace } from '../../../service/index.ts';
import type { StudioRoute } from '../route.ts';

/** What publishing a draft would do, placement by placement. */
export interface LiveEffect {
  placements: {
    id: string;
    name: string;
    /** Campaigns that run there now and come before it: their people never get this one. */
    after: string[];
    /** Campaigns that run there now and come after it: who is in both audiences gets this one. */
    before: string[];
  }[];
}

const isRunning = ({ status, startsAtMs, endsAtMs }: Campaign, nowMs: number) =>
  status === 'active' && (startsAtMs ?? 0) <= nowMs && nowMs < (endsAtMs ?? Number.POSITIVE_INFINITY);

const liveEffect = (content: unknown, workspace: Workspace, nowMs: number): LiveEffect => {
  const { campaign } = readCampaign(content, null, nowMs);
  if (!campaign) return { placements: [] };
  const others = workspace.campaigns.filter(({ campaignId }) => campaignId !== campaign.campaignId);
  // In the order in which the service decides, once the draft is published.
  const { campaigns } = campaignOrder({ ...workspace, campaigns: [...others, campaign] });
  const position = campaigns.indexOf(campaign);
  return {
    placements: [...campaign.placements].map((id) => {
      const running = (each: Campaign) =>
        each !== campaign && each.placements.has(id) && isRunning(each, nowMs);
      return {
        id,
        name: workspace.placements?.find(({ placementId }) => placementId === id)?.name ?? id,
        after: campaigns
          .slice(0, position)
          .filter(running)
          .map(({ name }) => name),
        before: campaigns
          .slice(position + 1)
          .filter(running)
          .map(({ name }) => name),
      };
    }),
  };
};

/** What publishing would change for users. */
export const publishEffect: StudioRoute = {
  method: 'POST',
  path: '/api/effect',
  role: 'view',
  answer: (context) => {
    const { campaign } = (context.body ?? {}) as { campaign?: unknown };
    const effect: LiveEffect = liveEffect(campaign, context.workspace, context.nowMs);
    return { status: 200, body: effect };
  },
};
