import { setImmediate } from 'node:timers/promises';
import { silentLog } from '../log.ts';
import type { Sample } from '../store/workspace-reads.ts';
import type { AudienceContext } from './audience/fields.ts';
import { assignVariant } from './bucketing.ts';
import type { Campaign } from './campaign.ts';
import { toCampaignActivity } from './campaign-activity.ts';
import { priorityOrder } from './campaign-order.ts';
import type { CampaignSet } from './campaign-set.ts';
import { createEligibilityCheck } from './eligibility.ts';
import { findHoldout } from './holdout.ts';

/** Users who are looked at, at most. Their share in the audience is right to 2.2 per cent, 19 times of 20. */
export const REACH_SAMPLE = 2_000;
/** Of the normal distribution, for 19 times of 20. */
const Z = 1.96;
/** So long users are looked at before others get their turn. */
const SLICE_MS = 5;
/** And so long in all. An ordinary audience takes a fifth of it. */
const MAX_MS = 30;

/** About how many users of how many are in an audience. */
export interface Reach {
  /** Those of them who have an external ID: no banner reaches others. */
  users: number;
  /** The true number is between these, 19 times of 20. All three are the same where every user was looked at. */
  atLeast: number;
  atMost: number;
  /** All users of the workspace: those with a profile, and those who only have banner events. */
  of: number;
  /**
   * About how many of the users would get it at its start, as far as the campaigns know that run then: the others are in its
   * control group or held out, or another campaign comes before it wherever it may be shown. Dismissals and frequency caps are left out.
   */
  shown: number;
}

export interface ReachQuestion {
  /** Some of the users of the workspace. */
  sample: Sample;
  workspace: CampaignSet;
  campaign: Campaign;
  /** Unix milliseconds. */
  now: number;
  /** Whether nobody waits for the answer any more. */
  isOver?: () => boolean;
  /** How long users may be looked at, in milliseconds; fewer of them than the sample has where that is not enough. */
  maxMs?: number;
  /** Milliseconds that the thread has worked. */
  clock?: () => number;
}

/** Time of the processor, where Node can say it: what others take from a busy machine makes no estimate of a count. */
export const cpuTimeMs = (): number => {
  const used = process.threadCpuUsage?.();
  return used ? (used.user + used.system) / 1_000 : performance.now();
};

/** Wilson's interval of a share, by how many were looked at of how many. */
const interval = (share: number, looked: number, total: number): [low: number, high: number] => {
  if (looked >= total) return [share, share];
  const n = (looked * (total - 1)) / (total - looked);
  const middle = (share + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((share * (1 - share)) / n + Z ** 2 / (4 * n ** 2));
  return [middle - half, middle + half];
};

/** Whether a member of the audience would get the campaign: by the order and the judgement that `decide` has. */
const createIsShown = ({ workspace, campaign, now }: ReachQuestion) => {
  // A segment is shown nowhere.
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
    const judge = createEligibilityCheck(
      { externalUserId: externalId, user, now: at, log: silentLog },
      { ...context, nowMs: at },
    );
    return before.some((ranks) => ranks.every((rank) => typeof judge(campaigns[rank]!) === 'string'));
  };
};

/**
 * Estimates a campaign's reach from a sample of the users, or counts it where they are few. It is about users alone: a filter on
 * the app or its version matches no user. An audience that takes long to decide is estimated from fewer users. Others get their
 * turn in between; `null` where nobody waits for it any more.
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
  let looked = 0;
  let tookMs = 0;
  let startedMs = clock();
  for (const { externalId, profile, campaigns } of users) {
    const sliceMs = clock() - startedMs;
    if (tookMs + sliceMs > maxMs) break;
    if (sliceMs > SLICE_MS) {
      await setImmediate();
      tookMs += sliceMs;
      startedMs = clock();
    }
    if (isOver()) return null;
    looked += 1;
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
  const share = looked === 0 ? 0 : found / looked;
  const [low, high] = interval(share, looked, total);
  return {
    users: Math.round(share * total),
    // Those who were found are there, and those who were not are not.
    atLeast: Math.max(found, Math.floor(low * total)),
    atMost: Math.min(total - (looked - found), Math.ceil(high * total)),
    of: total,
    shown: looked === 0 ? 0 : Math.round((shown / looked) * total),
  };
};
