import type { Store } from '../store/store.ts';
import { audienceOf } from './audience-document.ts';
import type { Campaign } from './campaign.ts';

/** Users who are looked at, at most. Their share in the audience is right to 2.2 per cent, 19 times of 20. */
const SAMPLE = 2_000;
/** Of the normal distribution, for 19 times of 20. */
const Z = 1.96;

/** About how many users of how many are in an audience. */
export interface Reach {
  /** Those of them who have an external ID: no banner reaches others. */
  users: number;
  /** The true number is between these, 19 times of 20. All three are the same where every user was looked at. */
  atLeast: number;
  atMost: number;
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  of: number;
}

export interface ReachQuestion {
  store: Pick<Store, 'sampleUsers'>;
  workspaceId: string;
  campaign: Pick<Campaign, 'audience'>;
  /** Unix milliseconds. */
  now: number;
  sampleSize?: number;
}

/** Wilson's interval of a share, by how many were looked at of how many. */
const interval = (share: number, looked: number, total: number): [low: number, high: number] => {
  if (looked >= total) return [share, share];
  const n = (looked * (total - 1)) / (total - looked);
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return [middle - half, middle + half];
};

/**
 * Estimates a campaign's reach from a sample of the users, or counts it where they are few. It is about users alone: a filter on
 * the app or its version matches no user.
 */
export const countReach = async (question: ReachQuestion): Promise<Reach> => {
  const { store, workspaceId, campaign, now, sampleSize = SAMPLE } = question;
  const { total, users } = await store.sampleUsers(workspaceId, sampleSize);
  const found = users.filter(({ externalId, profile }) => {
    if (externalId === null) return false;
    try {
      return (
        campaign.audience?.matches(audienceOf({ externalId, profile, appId: '', appVersion: '' }, now)) ??
        true
      );
    } catch {
      // As in a decision: a user whose attributes trip a filter is not in the audience.
      return false;
    }
  }).length;
  const share = users.length === 0 ? 0 : found / users.length;
  const [low, high] = interval(share, users.length, total);
  return {
    users: Math.round(share * total),
    // Those who were found are there, and those who were not are not.
    atLeast: Math.max(found, Math.floor(low * total)),
    atMost: Math.min(total - (users.length - found), Math.ceil(high * total)),
    of: total,
  };
};
