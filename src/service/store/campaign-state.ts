import type { NewBannerEvent } from '../profiles/events.ts';
import { type GoalCount, type Reached, reachedByBoth } from './goals.ts';
import type { UserCampaign } from './store.ts';

/** Impressions, clicks and dismissals. */
export type Tallies = [impressions: number, clicks: number, dismissals: number];

const TYPES = { impression: 0, click: 1, dismiss: 2 };

/** A row of `user_campaigns`: what one user did of one campaign, test sends left out. */
export interface CampaignState extends UserCampaign {
  /** By `day:2026-03-01`, by `placement:home_hero` and, where the campaign has languages, by `language:pt-BR`. */
  parts: Record<string, Tallies>;
  /** By the goals that the user has reached. */
  goals: Record<string, Reached>;
}

/** A row of `user_campaigns` with the user it is of. */
export interface UserState {
  workspaceId: string;
  userId: number;
  state: CampaignState;
}

/** Events of one user that are alike for the results. */
export interface AlikeEvents
  extends Pick<
    NewBannerEvent,
    'campaignId' | 'holdoutId' | 'eventType' | 'day' | 'placementId' | 'language'
  > {
  times: number;
}

const partsOf = ({ day, placementId, language }: Pick<AlikeEvents, 'day' | 'placementId' | 'language'>) => [
  `day:${day}`,
  `placement:${placementId}`,
  ...(language === null ? [] : [`language:${language}`]),
];

const talliesOf = (eventType: NewBannerEvent['eventType'], times: number): Tallies => {
  const tallies: Tallies = [0, 0, 0];
  tallies[TYPES[eventType]] = times;
  return tallies;
};

const addToPart = (parts: CampaignState['parts'], part: string, tallies: Tallies) => {
  const before: Tallies = Object.hasOwn(parts, part) ? parts[part]! : [0, 0, 0];
  const after: Tallies = [before[0] + tallies[0], before[1] + tallies[1], before[2] + tallies[2]];
  if (after.some((count) => count > 0)) parts[part] = after;
  else delete parts[part];
};

/** A user who did nothing of a campaign yet. */
const nothingOf = ({
  campaignId,
  variantId,
  isControl,
}: Pick<NewBannerEvent, 'campaignId' | 'variantId' | 'isControl'>): CampaignState => ({
  campaignId,
  variantId,
  isControl,
  impressions: 0,
  firstImpressionMs: null,
  lastImpressionMs: null,
  clicks: 0,
  dismissals: 0,
  lastDismissalMs: null,
  round: 0,
  parts: {},
  goals: {},
});

const latest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b));

type First = Pick<CampaignState, 'variantId' | 'isControl' | 'firstImpressionMs'>;

/** The earliest impression says of which variant a user is; of two at one instant the one whose variant comes first. */
const isEarlier = (a: First, b: First): boolean => {
  if (a.firstImpressionMs === null) return false;
  if (b.firstImpressionMs === null) return true;
  return a.firstImpressionMs === b.firstImpressionMs
    ? (a.variantId ?? '') < (b.variantId ?? '')
    : a.firstImpressionMs < b.firstImpressionMs;
};

/** The variant of a holdout under which everyone counts who gets campaigns. */
export const OF_ALL = 'campaigns';

/** An event as its campaign has it, and as the holdout has it that it counts for. */
export const countedAs = <T extends Pick<NewBannerEvent, 'campaignId' | 'holdoutId'>>(event: T): T[] => {
  const { holdoutId } = event;
  if (holdoutId === null) return [event];
  // A user in the control group of one campaign gets others.
  return [event, { ...event, campaignId: holdoutId, variantId: OF_ALL, isControl: false }];
};

/** The state with one event more, which was not stored before. A clock that runs ahead must not hide a campaign for longer. */
export const addEvent = (
  before: CampaignState | null,
  event: Omit<NewBannerEvent, 'round'> & { round?: number },
): CampaignState => {
  const { variantId, isControl, eventType, round = 0 } = event;
  const state = before ?? nothingOf(event);
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  for (const part of partsOf(event)) addToPart(state.parts, part, talliesOf(eventType, 1));
  if (eventType === 'impression') {
    const first: First = { variantId, isControl, firstImpressionMs: atMs };
    if (isEarlier(first, state)) Object.assign(state, first);
    state.impressions += 1;
    state.lastImpressionMs = latest(state.lastImpressionMs, atMs);
  } else if (eventType === 'click') state.clicks += 1;
  else {
    state.dismissals += 1;
    state.lastDismissalMs = latest(state.lastDismissalMs, atMs);
    // A banner is of one eligibility round: dismissing it twice, or late, or another of its round starts no other one.
    state.round = Math.max(state.round, round + 1);
  }
  return state;
};

const mergeStates = (kept: CampaignState | null, merged: CampaignState): CampaignState => {
  if (!kept) return merged;
  if (isEarlier(merged, kept)) {
    const { variantId, isControl, firstImpressionMs } = merged;
    Object.assign(kept, { variantId, isControl, firstImpressionMs });
  }
  for (const [part, tallies] of Object.entries(merged.parts)) addToPart(kept.parts, part, tallies);
  kept.impressions += merged.impressions;
  kept.clicks += merged.clicks;
  kept.dismissals += merged.dismissals;
  kept.lastImpressionMs = latest(kept.lastImpressionMs, merged.lastImpressionMs);
  kept.lastDismissalMs = latest(kept.lastDismissalMs, merged.lastDismissalMs);
  kept.round = Math.max(kept.round, merged.round);
  kept.goals = reachedByBoth(kept.goals, merged.goals);
  return kept;
};

/**
 * The states of one user who was two, with the goals of both. `repeats` are events that both had, and are stored once. The given states
 * are changed.
 */
export const mergeUsers = (
  kept: readonly CampaignState[],
  merged: readonly CampaignState[],
  repeats: readonly AlikeEvents[],
): CampaignState[] => {
  const states = new Map(kept.map((state) => [state.campaignId, state]));
  for (const state of merged)
    states.set(state.campaignId, mergeStates(states.get(state.campaignId) ?? null, state));
  for (const events of repeats.flatMap(countedAs)) {
    const state = states.get(events.campaignId);
    if (!state) continue;
    const tallies = talliesOf(events.eventType, -events.times);
    for (const part of partsOf(events)) addToPart(state.parts, part, tallies);
    state.impressions += tallies[0];
    state.clicks += tallies[1];
    state.dismissals += tallies[2];
  }
  return [...states.values()];
};

/** A row of `campaign_counts`, or what is added to one: events of a part, and users who had at least one. */
export interface CampaignCount {
  workspaceId: string;
  campaignId: string;
  /** `''` of the control group. */
  variantId: string;
  /** `''` of all, else as in `CampaignState`. */
  part: string;
  impressions: number;
  clicks: number;
  dismissals: number;
  exposed: number;
  clicked: number;
  dismissed: number;
}

/**
 * The differences that states make to the counts of their campaigns: the state of a user before a change is taken away, the one
 * after it added. Users without an impression are in no count.
 */
export const createCounts = () => {
  const campaigns = new Map<string, CampaignCount>();
  const goals = new Map<string, GoalCount>();

  const add = ({ workspaceId, state }: Omit<UserState, 'userId'>, sign: 1 | -1) => {
    const { campaignId, impressions, clicks, dismissals, parts } = state;
    if (impressions === 0) return;
    const variantId = state.variantId ?? '';
    const all: [string, Tallies][] = [['', [impressions, clicks, dismissals]], ...Object.entries(parts)];
    for (const [part, tallies] of all) {
      const name = JSON.stringify([workspaceId, campaignId, variantId, part]);
      const events = { impressions: 0, clicks: 0, dismissals: 0 };
      const users = { exposed: 0, clicked: 0, dismissed: 0 };
      const count = campaigns.get(name) ?? {
        workspaceId,
        campaignId,
        variantId,
        part,
        ...events,
        ...users,
      };
      count.impressions += sign * tallies[0];
      count.clicks += sign * tallies[1];
      count.dismissals += sign * tallies[2];
      count.exposed += sign * Number(tallies[0] > 0);
      count.clicked += sign * Number(tallies[1] > 0);
      count.dismissed += sign * Number(tallies[2] > 0);
      campaigns.set(name, count);
    }
    for (const [goal, [, spent, currencies]] of Object.entries(state.goals)) {
      const name = JSON.stringify([workspaceId, campaignId, variantId, goal, currencies]);
      const of = { workspaceId, campaignId, variantId, goal, currencies };
      const count = goals.get(name) ?? { ...of, converted: 0, revenue: 0, squares: 0 };
      count.converted += sign;
      count.revenue += sign * spent;
      count.squares += sign * spent * spent;
      goals.set(name, count);
    }
  };

  /** Those that are not zero, in one order, so that of two transactions which add to the same rows one waits for the other. */
  const rowsOf = <T extends object>(counts: ReadonlyMap<string, T>): T[] =>
    [...counts.entries()]
      .filter(([, count]) => Object.values(count).some((value) => typeof value === 'number' && value !== 0))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, count]) => count);

  return {
    add: (state: Omit<UserState, 'userId'>) => add(state, 1),
    takeAway: (state: Omit<UserState, 'userId'>) => add(state, -1),
    rows: () => ({ campaigns: rowsOf(campaigns), goals: rowsOf(goals) }),
  };
};
