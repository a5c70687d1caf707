import type { Workspace } from '../workspace/workspace.ts';
import type { Campaign } from './campaign.ts';
import { createCandidates, lookupClause } from './candidates.ts';
import type { Verdict } from './judge.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
export const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || (other.startsAtMs ?? 0) - (one.startsAtMs ?? 0);

/** The campaigns that may fill one placement, by their rank: the position in the order of all campaigns. */
interface Ranks {
  all: readonly number[];
  /** Of active ones that `createCandidates` cannot look up. */
  active: readonly number[];
  /** Of those that name test users, whatever their status. */
  tests: readonly number[];
}

interface CampaignOrder {
  /** The best first. */
  campaigns: readonly Campaign[];
  /** By placement ID. */
  order: ReadonlyMap<string, Ranks>;
  candidates: ReturnType<typeof createCandidates>;
  /** Whether any of them is limited in how often a user gets it, and the longest window of days in which that is counted. */
  hasCaps: boolean;
  capDays: number;
  /** By rank: room for the verdicts of one question, which is answered in one go. A new array each time costs more than asking. */
  verdicts: (Verdict | undefined)[];
}

/** Made once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const known = new WeakMap<Workspace, CampaignOrder>();

export const campaignOrder = (workspace: Workspace): CampaignOrder => {
  const made = known.get(workspace);
  if (made) return made;
  const campaigns = workspace.campaigns.toSorted(inOrder);
  const ranks = (placementId: string, belongs: (campaign: Campaign) => boolean) =>
    campaigns.flatMap((campaign, rank) =>
      campaign.placements.has(placementId) && belongs(campaign) ? [rank] : [],
    );
  const placementIds = new Set(campaigns.flatMap(({ placements }) => [...placements]));
  const order = new Map(
    [...placementIds].map((placementId) => [
      placementId,
      {
        all: ranks(placementId, () => true),
        active: ranks(placementId, (campaign) => campaign.status === 'active' && !lookupClause(campaign)),
        tests: ranks(placementId, ({ testUsers }) => testUsers.size > 0),
      },
    ]),
  );
  const fresh = {
    campaigns,
    order,
    candidates: createCandidates(campaigns),
    hasCaps: workspace.tagCaps.length > 0 || campaigns.some(({ frequency }) => frequency !== null),
    capDays: Math.max(0, ...campaigns.map(({ frequency }) => frequency?.impressions?.days ?? 0)),
    verdicts: campaigns.map(() => undefined),
  };
  known.set(workspace, fresh);
  return fresh;
};

const NOWHERE: Ranks = { all: [], active: [], tests: [] };

/**
 * The ranks to judge for one user: campaigns that test on the user come before all others. With `found` those of
 * campaigns that may be for this user, found by what they ask; with `null` those of all campaigns.
 */
export const rankedFor = (
  { campaigns, order }: CampaignOrder,
  placementId: string,
  found: readonly number[] | null,
  externalUserId: string,
): readonly number[] => {
  const { all, active, tests } = order.get(placementId) ?? NOWHERE;
  let ranked = all;
  if (found) {
    const here = found.filter((rank) => campaigns[rank]?.placements.has(placementId));
    ranked = here.length === 0 ? active : [...active, ...here].sort((one, other) => one - other);
  }
  if (tests.length === 0) return ranked;
  const testing = tests.filter((rank) => campaigns[rank]?.testUsers.has(externalUserId));
  if (testing.length === 0) return ranked;
  return [...testing, ...ranked.filter((rank) => !testing.includes(rank))];
};
