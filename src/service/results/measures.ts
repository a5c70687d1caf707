import type { EventType } from '../../protocol/index.ts';
import type { UserCampaign } from '../store/store.ts';

/** A banner event as the state of its user sees it. */
export interface SeenEvent {
  variantId: string | null;
  isControl: boolean;
  /** The earlier of when it happened and when it was received. */
  atMs: number;
  /** The eligibility round of its banner. */
  round: number;
}

interface Measure {
  /** Column and result with the number of events. */
  events: 'impressions' | 'clicks' | 'dismissals';
  /** Column with the number of users who have at least one. */
  users: string;
  /** The same number in `Counts`. */
  userCount: 'exposed' | 'clicked' | 'dismissed';
  /** What one event more changes for decisions, beside its number. */
  effect(state: UserCampaign, event: SeenEvent): void;
}

type FirstImpression = Pick<UserCampaign, 'variantId' | 'firstImpressionMs'>;

/** The earliest impression decides of which variant a user is; of two at one instant the variant that sorts first. */
export const isEarlier = (a: FirstImpression, b: FirstImpression): boolean => {
  if (a.firstImpressionMs === null) return false;
  if (b.firstImpressionMs === null) return true;
  return a.firstImpressionMs === b.firstImpressionMs
    ? (a.variantId ?? '') < (b.variantId ?? '')
    : a.firstImpressionMs < b.firstImpressionMs;
};

export const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** What is measured of each type of banner event. SQL, results and exports derive from this table. */
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
      // A banner is of one eligibility round: dismissing it twice, late, or another banner of its round starts no other one.
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

/** Events, and users who had at least one. Test sends are in no count. */
export type Counts = Record<Measure['events'] | Measure['userCount'], number>;
