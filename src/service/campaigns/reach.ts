import type { Store } from '../store/store.ts';
import { type Asker, audienceOf } from './audience-of.ts';
import type { Campaign } from './campaign.ts';
import { mayMatch } from './quick-checks.ts';

/** Users who are asked at most. With so many the share is right to 1.4 per cent of all users, 19 times of 20. */
const SAMPLE = 5_000;
/** Of the normal distribution, for 95 per cent. */
const Z = 1.96;

/** About how many users of how many an audience holds. */
export interface Reach {
  /** Users in the audience who can be shown a banner: they have an external ID. Rounded to a whole number. */
  users: number;
  /** The true number is between these, 19 times of 20. All three are the same where every user was asked. */
  atLeast: number;
  atMost: number;
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  of: number;
}

/** The interval of Wilson for a share, of a sample that may be a large part of all. */
const interval = (share: number, asked: number, total: number): [number, number] => {
  if (asked >= total) return [share, share];
  const n = (asked * (total - 1)) / (total - asked);
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return [middle - half, middle + half];
};

const isIn = ({ audience }: Pick<Campaign, 'audience'>, asker: Asker, nowMs: number): boolean => {
  if (!audience) return true;
  if (!mayMatch(audience.clauses, asker, nowMs)) return false;
  try {
    return audience.matches(audienceOf(asker, nowMs));
  } catch {
    // As in the decision: a user whose attributes trip a filter is not in the audience.
    return false;
  }
};

export interface ReachQuestion {
  store: Pick<Store, 'sampleUsers'>;
  workspaceId: string;
  campaign: Pick<Campaign, 'audience'>;
  /** For audiences that name the app that asks. */
  appId: string;
  appVersion: string;
  /** Unix milliseconds. */
  now: number;
  /** Default 5,000. */
  sampleSize?: number;
}

/** Asks a sample of users whether they are in a campaign's audience, or all where they are few. */
export const countReach = async ({
  store,
  workspaceId,
  campaign,
  appId,
  appVersion,
  now,
  sampleSize = SAMPLE,
}: ReachQuestion): Promise<Reach> => {
  const { total, users } = await store.sampleUsers(workspaceId, sampleSize);
  let asked = 0;
  let found = 0;
  for await (const { externalId, profile } of users) {
    asked += 1;
    if (externalId !== null && isIn(campaign, { externalId, profile, appId, appVersion }, now)) found += 1;
  }
  if (asked === 0) return { users: 0, atLeast: 0, atMost: 0, of: total };
  const share = found / asked;
  const [low, high] = interval(share, asked, total);
  return {
    users: Math.round(share * total),
    // Those who were found are there, and those who were not are not.
    atLeast: Math.max(found, Math.floor(low * total)),
    atMost: Math.min(total - (asked - found), Math.ceil(high * total)),
    of: total,
  };
};
