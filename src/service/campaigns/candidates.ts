import type { Workspace } from '../workspace/workspace.ts';
import type { Campaign } from './campaign.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || (other.startsAtMs ?? 0) - (one.startsAtMs ?? 0);

/** A campaign with its number among those of its workspace. */
export interface Candidate {
  number: number;
  campaign: Campaign;
}

/** The campaigns of one placement, the best first. */
interface Candidates {
  active: readonly Candidate[];
  /** Those that name test users, whatever their status. */
  tests: readonly Candidate[];
}

/** Sorted once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const sorted = new WeakMap<Workspace, Map<string, Candidates>>();

const sortedOf = (workspace: Workspace): Map<string, Candidates> => {
  const known = sorted.get(workspace);
  if (known) return known;
  const all = workspace.campaigns.toSorted(inOrder).map((campaign, number) => ({ number, campaign }));
  const placementIds = new Set(workspace.campaigns.flatMap(({ placements }) => [...placements]));
  const byPlacement = new Map<string, Candidates>();
  for (const placementId of placementIds) {
    const here = all.filter(({ campaign }) => campaign.placements.has(placementId));
    byPlacement.set(placementId, {
      active: here.filter(({ campaign }) => campaign.status === 'active'),
      tests: here.filter(({ campaign }) => campaign.testUsers.size > 0),
    });
  }
  sorted.set(workspace, byPlacement);
  return byPlacement;
};

/** The campaigns that may fill a placement, the best first: those that test on this user come before all others. */
export const candidatesFor = (
  workspace: Workspace,
  placementId: string,
  externalUserId: string,
): readonly Candidate[] => {
  const candidates = sortedOf(workspace).get(placementId);
  if (!candidates) return [];
  const { active, tests } = candidates;
  if (tests.length === 0) return active;
  const testing = tests.filter(({ campaign }) => campaign.testUsers.has(externalUserId));
  if (testing.length === 0) return active;
  return [...testing, ...active.filter((candidate) => !testing.includes(candidate))];
};
