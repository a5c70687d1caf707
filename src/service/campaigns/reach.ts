import { setImmediate } from 'node:timers/promises';
import { cpuTimeMs } from '../cpu-time.ts';
import { silentLog } from '../log.ts';
import type { Sample } from '../store/store.ts';
import type { AudienceContext } from './audience/fields.ts';
import { assignVariant } from './bucketing.ts';
import type { Campaign } from './campaign.ts';
import { toCampaignActivity } from './campaign-activity.ts';
import { priorityOrder } from './campaign-order.ts';
import type { CampaignSet } from './campaign-set.ts';
import { createEligibilityCheck } from './eligibility.ts';
import { findHoldout } from './holdout.ts';

/** Maximum number of users in the sample. The margin of error is 2.2 percentage points at 95% confidence. */
export const REACH_SAMPLE = 2_000;
/** Normal quantile of a two-sided 95% interval. */
const Z = 1.96;
/** Maximum time before the loop yields, in milliseconds. */
const SLICE_MS = 5;
/** Maximum total time, in milliseconds. A typical audience takes a fifth of this time. */
const MAX_MS = 30;
/** Minimum number of evaluated users, regardless of time, because a smaller sample is meaningless. */
const MIN_USERS = 10;

/** Estimated reach of an audience. */
export interface Reach {
  /** Number of users with an external ID. Other users cannot receive banners. */
  users: number;
  /** Lower and upper bound of the 95% confidence interval. Both equal `users` if every user was checked. */
  atLeast: number;
  atMost: number;
  /** Number of all users of the workspace, including users who only have banner events. */
  total: number;
  /**
   * Estimated number of users who would see the campaign at its start, given the campaigns known to run then. Excludes the
   * control group, the holdout, and users with other campaigns in every placement. Ignores dismissals and frequency caps.
   */
  shown: number;
}

export interface ReachQuestion {
  sample: Sample;
  workspace: CampaignSet;
  campaign: Campaign;
  /** Unix milliseconds. */
  now: number;
  /** Whether the request was aborted. */
  isOver?: () => boolean;
  /** Time limit in milliseconds. The sample is smaller if it is exceeded. */
  maxMs?: number;
  /** Returns the CPU time of the thread in milliseconds. */
  clock?: () => number;
}

/** Returns the Wilson score interval of a share, with finite population correction. */
const interval = (share: number, evaluated: number, total: number): [low: number, high: number] => {
  if (evaluated >= total) return [share, share];
  const n = (evaluated * (total - 1)) / (total - evaluated);
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return [middle - half, middle + half];
};

/** Returns a predicate that applies the order and eligibility checks of `decide` to a member of the audience. */
const createIsShown = ({ workspace, campaign, now }: ReachQuestion) => {
  // A segment has no placements.
  if (campaign.placements.size === 0) return () => false;
  const others = workspace.campaigns.filter(({ campaignId }) => campaignId !== campaign.campaignId);
  const { campaigns, placements } = priorityOrder({ ...workspace, campaigns: [...others, campaign] });
  const own = campaigns.indexOf(campaign);
  const before = [...campaign.placements].map((id) =>
    placements.get(id)!.all.filter((rank) => rank < own && campaigns[rank]!.status === 'active'),
  );
  const at = Math.max(now, campaign.startsAtMs ?? now);
  return (context: AudienceContext): boolean => {
    const { externalId, profile } = context;
    if (findHoldout(workspace, campaign, externalId, at)) return false;
    if (assignVariant(workspace.workspaceId, campaign, externalId, false).isControl) return false;
    const user = { profile, campaigns: [], impressions: [] };
    const checkEligibility = createEligibilityCheck(
      { externalUserId: externalId, user, now: at, log: silentLog },
      { ...context, nowMs: at },
    );
    return before.some((ranks) =>
      ranks.every((rank) => typeof checkEligibility(campaigns[rank]!) === 'string'),
    );
  };
};

/**
 * Estimates a campaign's reach from a sample of users. Counts exactly if the sample contains all users. Evaluates filters without
 * a request, so a filter on the app or its version matches no user. Slow audiences have a smaller sample. Yields between slices.
 * Returns `null` if the request was aborted.
 */
export const countReach = async (question: ReachQuestion): Promise<Reach | null> => {
  const {
    sample,
    workspace,
    campaign,
    now,
    isOver = () => false,
    maxMs = MAX_MS,
    clock = cpuTimeMs,
  } = question;
  const { total, users } = sample;
  const isShown = createIsShown(question);
  let found = 0;
  let shown = 0;
  let evaluated = 0;
  let tookMs = 0;
  let startedMs = clock();
  for (const { externalId, profile, campaigns } of users) {
    const sliceMs = clock() - startedMs;
    if (evaluated >= MIN_USERS && tookMs + sliceMs > maxMs) break;
    if (sliceMs > SLICE_MS) {
      await setImmediate();
      tookMs += sliceMs;
      startedMs = clock();
    }
    if (isOver()) return null;
    evaluated += 1;
    if (externalId === null) continue;
    const context = {
      externalId,
      profile,
      campaigns: () => toCampaignActivity(workspace, { profile, campaigns }),
      appId: '',
      appVersion: '',
      nowMs: now,
    };
    if ((campaign.audience?.membership(context) ?? 'in') !== 'in') continue;
    found += 1;
    if (isShown(context)) shown += 1;
  }
  const share = evaluated === 0 ? 0 : found / evaluated;
  const [low, high] = interval(share, evaluated, total);
  return {
    users: Math.round(share * total),
    // The numbers of checked users in and outside the audience bound the interval.
    atLeast: Math.max(found, Math.floor(low * total)),
    atMost: Math.min(total - (evaluated - found), Math.ceil(high * total)),
    total,
    shown: evaluated === 0 ? 0 : Math.round((shown / evaluated) * total),
  };
};
