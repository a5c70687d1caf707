import type { EventType } from '../../protocol/index.ts';
import { mapKeys } from '../../protocol/index.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';

/** Fields of a banner event that affect its row of `user_campaigns`. */
export interface MeasuredEvent {
  variantId: string | null;
  isControl: boolean;
  /** Earlier of timestamp and receipt, in Unix milliseconds. */
  atMs: number;
  /** Eligibility round of the banner (number of earlier dismissals). */
  round: number;
}

interface Measure {
  /** Column and result field with the number of events. */
  events: 'impressions' | 'clicks' | 'dismissals';
  /** Column with the number of users with at least one event. */
  users: string;
  /** Field of `Counts` with the number of users. */
  userCount: 'exposed' | 'clicked' | 'dismissed';
  /** Updates the row of `user_campaigns` that decisions read, except the number of events. */
  effect(userCampaign: UserCampaign, event: MeasuredEvent): void;
}

type FirstImpression = Pick<UserCampaign, 'variantId' | 'firstImpressionMs'>;

/**
 * Whether impression `a` precedes `b`. The earliest impression determines the variant of a user. If times are equal, the variant
 * that sorts first wins.
 */
export const isEarlierImpression = (a: FirstImpression, b: FirstImpression): boolean => {
  if (a.firstImpressionMs === null) return false;
  if (b.firstImpressionMs === null) return true;
  return a.firstImpressionMs === b.firstImpressionMs
    ? (a.variantId ?? '') < (b.variantId ?? '')
    : a.firstImpressionMs < b.firstImpressionMs;
};

export const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** Measure of each type of banner event. SQL, results and exports derive from this table. */
export const MEASURE_BY_TYPE = {
  impression: {
    events: 'impressions',
    users: 'exposed_users',
    userCount: 'exposed',
    effect(userCampaign, { variantId, isControl, atMs }) {
      const first = { variantId, isControl, firstImpressionMs: atMs };
      if (isEarlierImpression(first, userCampaign)) Object.assign(userCampaign, first);
      userCampaign.lastImpressionMs = latest(userCampaign.lastImpressionMs, atMs);
    },
  },
  click: {
    events: 'clicks',
    users: 'clicked_users',
    userCount: 'clicked',
    effect(userCampaign, { atMs }) {
      userCampaign.lastClickMs = latest(userCampaign.lastClickMs, atMs);
    },
  },
  dismiss: {
    events: 'dismissals',
    users: 'dismissed_users',
    userCount: 'dismissed',
    effect(userCampaign, { atMs, round }) {
      userCampaign.lastDismissalMs = latest(userCampaign.lastDismissalMs, atMs);
      // A banner belongs to one eligibility round. Repeated or late dismissals of banners of the same round do not start another
      // round.
      userCampaign.round = Math.max(userCampaign.round, round + 1);
    },
  },
} as const satisfies Record<EventType, Measure>;

export const MEASURES: readonly Measure[] = Object.values(MEASURE_BY_TYPE);

/** Number of events by measure. */
export type EventCounts = Record<Measure['events'], number>;

/** Names of the members of `EventCounts`. */
export const EVENT_COUNT_NAMES = MEASURES.map(({ events }) => events);

export const zeroCounts = (): EventCounts => mapKeys(EVENT_COUNT_NAMES, () => 0);

/** Adds `added` to `counts` in place. */
export const addCounts = (counts: EventCounts, added: Readonly<EventCounts>): void => {
  for (const { events } of MEASURES) counts[events] += added[events];
};

/** Numbers of events, and of users with at least one event. Excludes test sends. */
export type Counts = Record<Measure['events'] | Measure['userCount'], number>;
