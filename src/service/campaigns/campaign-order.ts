import type { Workspace } from '../workspace/workspace.ts';
import type { Campaign } from './campaign.ts';

const RANK = { high: 0, medium: 1, low: 2 };

/** Higher priority first; of the same priority the one that starts later; else the order of the file. */
const inOrder = (one: Campaign, other: Campaign): number =>
  RANK[one.priority] - RANK[other.priority] || (other.startsAtMs ?? 0) - (one.startsAtMs ?? 0);

/** Places in the order of the campaigns that may fill one placement. */
interface Places {
  active: readonly number[];
  /** Of those that name test users, whatever their status. */
  tests: readonly number[];
}

interface CampaignOrder {
  /** The best first. */
  campaigns: readonly Campaign[];
  /** By placement ID. */
  order: ReadonlyMap<string, Places>;
}

/** Made once a workspace; a reload makes a new workspace, and the old one goes with its order. */
const known = new WeakMap<Workspace, CampaignOrder>();

export const campaignOrder = (workspace: Workspace): CampaignOrder => {
  const made = known.get(workspace);
  if (made) return made;
  const campaigns = workspace.campaigns.toSorted(inOrder);
  const places = (placementId: string, belongs: (campaign: Campaign) => boolean) =>
    campaigns.flatMap((campaign, place) =>
      campaign.placements.has(placementId) && belongs(campaign) ? [place] : [],
    );
  const placementIds = new Set(campaigns.flatMap(({ placements }) => [...placements]));
  const order = new Map(
    [...placementIds].map((placementId) => [
      placementId,
      {
        active: places(placementId, ({ status }) => status === 'active'),
        tests: places(placementId, ({ testUsers }) => testUsers.size > 0),
      },
    ]),
  );
  known.set(workspace, { campaigns, order });
  return { campaigns, order };
};

/** The places to look at for one user: campaigns that test on this user come before all others. */
export const placesFor = (
  places: Places | undefined,
  campaigns: readonly Campaign[],
  externalUserId: string,
): readonly number[] => {
  if (!places) return [];
  const { active, tests } = places;
  if (tests.length === 0) return active;
  const testing = tests.filter((place) => campaigns[place]?.testUsers.has(externalUserId));
  if (testing.length === 0) return active;
  return [...testing, ...active.filter((place) => !testing.includes(place))];
};
