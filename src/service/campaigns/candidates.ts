import type { Workspace } from '../workspace/workspace.ts';
import type { Campaign } from './campaign.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || (other.startsAtMs ?? 0) - (one.startsAtMs ?? 0);

/** Sorted once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const sorted = new WeakMap<Workspace, Map<string, Campaign[]>>();

const campaignsOf = (workspace: Workspace): Map<string, Campaign[]> => {
  const known = sorted.get(workspace);
  if (known) return known;
  const byPlacement = new Map<string, Campaign[]>();
  for (const campaign of workspace.campaigns.toSorted(inOrder)) {
    if (campaign.status !== 'active' && campaign.testUsers.size === 0) continue;
    for (const placementId of campaign.placements) {
      byPlacement.set(placementId, [...(byPlacement.get(placementId) ?? []), campaign]);
    }
  }
  sorted.set(workspace, byPlacement);
  return byPlacement;
};

/** The campaigns that may fill a placement, the best first: those that test on this user come before all others. */
export const candidatesFor = (
  workspace: Workspace,
  placementId: string,
  externalUserId: string,
): readonly Campaign[] => {
  const campaigns = campaignsOf(workspace).get(placementId) ?? [];
  if (!campaigns.some(({ testUsers }) => testUsers.has(externalUserId))) return campaigns;
  const isTest = ({ testUsers }: Campaign) => testUsers.has(externalUserId);
  return [...campaigns.filter(isTest), ...campaigns.filter((campaign) => !isTest(campaign))];
};
