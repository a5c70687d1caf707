import type { Campaign } from './campaign.ts';
import type { CampaignSet } from './campaign-set.ts';
import type { Eligibility } from './decision.ts';

const RANK: Record<Campaign['priority'], number> = { high: 0, medium: 1, low: 2 };

/** Returns the start of a campaign. Default: its publication. */
const getStart = ({ startsAtMs, publishedAtMs }: Campaign): number => startsAtMs ?? publishedAtMs ?? 0;

/** Compares campaigns by descending priority, then by latest start. Ties keep the file order. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || getStart(other) - getStart(one);

interface PriorityOrder {
  /** Campaigns sorted by priority. The index is the rank. */
  campaigns: readonly Campaign[];
  byId: ReadonlyMap<string, Campaign>;
  /** Ranks of all campaigns, and of campaigns with test users, by placement ID. */
  placements: ReadonlyMap<string, { all: readonly number[]; tests: readonly number[] }>;
  /** Whether any campaign has a frequency cap. */
  hasCaps: boolean;
  /** Longest window of a frequency cap, in days. */
  capDays: number;
  /**
   * Scratch array for the eligibilities of one synchronous decision, by rank. Allocating an array for each decision would cost more
   * than the decision.
   */
  eligibilities: (Eligibility | undefined)[];
}

/** Orders cached per workspace. A reload creates a new workspace, so stale orders are garbage-collected. */
const cache = new WeakMap<CampaignSet, PriorityOrder>();

export const priorityOrder = (workspace: CampaignSet): PriorityOrder => {
  const cached = cache.get(workspace);
  if (cached) return cached;
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
  const order = {
    campaigns,
    byId: new Map(campaigns.map((campaign) => [campaign.campaignId, campaign])),
    placements,
    hasCaps: workspace.tagCaps.length > 0 || campaigns.some(({ frequency }) => frequency !== null),
    capDays: Math.max(0, ...campaigns.map(({ frequency }) => frequency?.impressions?.days ?? 0)),
    eligibilities: campaigns.map(() => undefined),
  };
  cache.set(workspace, order);
  return order;
};

/** Returns the ranks to evaluate for one user, highest priority first. Campaigns that have the user as a test user come first. */
export const getCandidates = (
  { campaigns, placements }: PriorityOrder,
  placementId: string,
  externalUserId: string,
): readonly number[] => {
  const { all, tests } = placements.get(placementId) ?? { all: [], tests: [] };
  const testing = tests.filter((rank) => campaigns[rank]!.testUsers.has(externalUserId));
  if (testing.length === 0) return all;
  return [...testing, ...all.filter((rank) => !testing.includes(rank))];
};
