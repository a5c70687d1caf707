import { type Campaign, inOrder, readCampaign, type Workspace } from '../../service/index.ts';

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

export const liveEffect = (content: unknown, workspace: Workspace, nowMs: number): LiveEffect => {
  const { campaign } = readCampaign(content, null);
  if (!campaign) return { placements: [] };
  const position = workspace.campaigns.findIndex(({ campaignId }) => campaignId === campaign.campaignId);
  return {
    placements: [...campaign.placements].map((id) => {
      const others = workspace.campaigns.filter(
        (each) =>
          each.campaignId !== campaign.campaignId && each.placements.has(id) && isRunning(each, nowMs),
      );
      // Of two that are alike in all else, the earlier in the list comes first; a new one is the last.
      const isBefore = (other: Campaign) => {
        const at = workspace.campaigns.indexOf(other);
        return (inOrder(campaign, other) || (position >= 0 && position < at ? -1 : 1)) < 0;
      };
      return {
        id,
        name: workspace.placements?.find(({ placementId }) => placementId === id)?.name ?? id,
        after: others.filter((each) => !isBefore(each)).map(({ name }) => name),
        before: others.filter(isBefore).map(({ name }) => name),
      };
    }),
  };
};
