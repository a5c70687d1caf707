import type { EventType } from '../../protocol/index.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';

/** Fields of a banner event that affect the state of its user. */
export interface SeenEvent {
  variantId: string | null;
  isControl: boolean;
  /** The earlier of timestamp and receipt. */
  atMs: number;
  /** The banner's eligibility round (number of earlier dismissals). */
  round: number;
}

interface Measure {
  /** Column, and member of results, with the number of events. */
  events: 'impressions' | 'clicks' | 'dismissals';
  /** Column with the number of users who have at least one event. */
  users: string;
  /** Member of `Counts` with that number. */
  userCount: 'exposed' | 'clicked' | 'dismissed';
  /** Changes the state that decisions read, besides the number of events. */
  effect(state: UserCampaign, event: SeenEvent): void;
}

type FirstImpression = Pick<UserCampaign, 'variantId' | 'firstImpressionMs'>;

/** The earliest impression decides the variant of a user. Of two at the same time, the variant that sorts first wins. */
export const isEarlier = (a: FirstImpression, b: FirstImpression): boolean => {
  if (a.firstImpressionMs === null) return false;
  if (b.firstImpressionMs === null) return true;
  return a.firstImpressionMs === b.firstImpressionMs
    ? (a.variantId ?? '') < (b.variantId ?? '')
    : a.firstImpressionMs < b.firstImpressionMs;
};

export const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** Measure of each type of banner event. SQL, results and exports derive from this table. */
export const MEASURE_OF = {
  impression: {
    events: 'impressions',
    users: 'exposed_users',
    userCount: 'exposed',
    effect(state, { variantId, isControl, atMs }) {
      const first = { variantId, isControl, firstImpressionMs: atMs };
      if (isEarlier(first, state)) Object.assign(state, first);
      state.lastImpressionMs = latest(state.lastImpressionMs, atMs);
    },
  },
  click: {
    events: 'clicks',
    users: 'clicked_users',
    userCount: 'clicked',
    effect(state, { atMs }) {
      state.lastClickMs = latest(state.lastClickMs, atMs);
    },
  },
  dismiss: {
    events: 'dismissals',
    users: 'dismissed_users',
    userCount: 'dismissed',
    effect(state, { atMs, round }) {
      state.lastDismissalMs = latest(state.lastDismissalMs, atMs);
      // A banner belongs to one eligibility round. Dismissing it twice or late, or dismissing another banner of its round, starts no
      // further one.
      state.round = Math.max(state.round, round + 1);
    },
  },
} as const satisfies Record<EventType, Measure>;

export const MEASURES: readonly Measure[] = Object.values(MEASURE_OF);

/** Number of events by measure. */
export type EventCounts = Record<Measure['events'], number>;

export const zeroCounts = (): EventCounts =>
  Object.fromEntries(MEASURES.map(({ events }) => [events, 0])) as EventCounts;

/** Adds to tallies in place. */
export const addCounts = (tallies: EventCounts, added: Readonly<EventCounts>): void => {
  for (const { events } of MEASURES) tallies[events] += added[events];
};

/** Numbers of events, and of users with at least one. Excludes test sends. */
export type Counts = Record<Measure['events'] | Measure['userCount'], number>;
