import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';
import type { Eligibility } from './decision.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** A campaign without a start begins when it is published. */
const getStart = ({ startsAtMs, publishedAtMs }: Campaign): number => startsAtMs ?? publishedAtMs ?? 0;

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || getStart(other) - getStart(one);

interface PriorityOrder {
  /** The best first: a campaign's position is its rank. */
  campaigns: readonly Campaign[];
  byId: ReadonlyMap<string, Campaign>;
  /** By placement ID the ranks of the campaigns that may fill it, and of those that name test users. */
  placements: ReadonlyMap<string, { all: readonly number[]; tests: readonly number[] }>;
  /** Whether any of them is limited in how often a user gets it, and the longest window of days in which that is counted. */
  hasCaps: boolean;
  capDays: number;
  /** By rank: room for the verdicts of one question, which is answered in one go. A new array each time costs more than asking. */
  verdicts: (Eligibility | undefined)[];
}

/** Made once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const known = new WeakMap<CampaignSet, PriorityOrder>();

export const priorityOrder = (workspace: CampaignSet): PriorityOrder => {
  const made = known.get(workspace);
  if (made) return made;
  const campaigns = workspace.campaigns.toSorted(inOrder);
  const placements = new Map<string, { all: number[]; tests: number[] }>();
  for (const [rank, campaign] of campaigns.entries()) {
    for (const placementId of campaign.placements) {
      const ranks = placements.get(placementId) ?? { all: [], tests: [] };
      placements.set(placementId, ranks);
      ranks.all.push(rank);
      if (campaign.testUsers.size > 0) ranks.tests.push(rank);
    }
  }
  const fresh = {
    campaigns,
    byId: new Map(campaigns.map((campaign) => [campaign.campaignId, campaign])),
    placements,
    hasCaps: workspace.tagCaps.length > 0 || campaigns.some(({ frequency }) => frequency !== null),
    capDays: Math.max(0, ...campaigns.map(({ frequency }) => frequency?.impressions?.days ?? 0)),
    verdicts: campaigns.map(() => undefined),
  };
  known.set(workspace, fresh);
  return fresh;
};

/** The ranks to judge for one user, the best first: campaigns that test on the user come before all others. */
export const candidatesFor = (
  { campaigns, placements }: PriorityOrder,
  placementId: string,
  externalUserId: string,
): readonly number[] => {
  const { all, tests } = placements.get(placementId) ?? { all: [], tests: [] };
  const testing = tests.filter((rank) => campaigns[rank]!.testUsers.has(externalUserId));
  if (testing.length === 0) return all;
  return [...testing, ...all.filter((rank) => !testing.includes(rank))];
};
