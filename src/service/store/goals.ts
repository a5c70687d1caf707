import { MAX_PRICE } from '../../protocol/index.ts';
import { numberIn, type SqlRow, textIn, textsIn } from '../operators/index.ts';
import { columns, EVENTS } from './rows.ts';

/** What counts as a success of a campaign: an event or a purchase, within this time after the user's first impression. */
export type Conversion = ({ event: string } | { product: string }) & { withinMs: number };

/** `event:signed_up`, or `product:cup` of a purchase: an event has no product, as its row has it. */
const deedName = (event: unknown, product: unknown): string =>
  product === null ? `event:${event}` : `product:${product}`;

/** The goal of a conversion as one text, such as `86400000 event:signed_up`. */
export const goalOf = (conversion: Conversion): string =>
  `${conversion.withinMs} ${'event' in conversion ? deedName(conversion.event, null) : deedName(null, conversion.product)}`;

interface Goal {
  /** As `goalOf` has it. */
  goal: string;
  /** As `deedName` has it. */
  name: string;
  withinMs: number;
  isEvent: boolean;
  /** The event's name, or the product's ID. */
  value: string;
}

/** What a user did to reach a goal: how many events, what was spent in all, and in which currencies, such as `EUR,PLN`. */
export type Reached = [events: number, spent: number, currencies: string];

/** Something that a user did, as far as a goal asks. */
export interface Deed {
  name: string;
  timeMs: number;
  spent: number;
  /** `''` where nothing was bought. */
  currency: string;
}

/** A price that is out of bounds, which was stored before there were any, counts as none: no value makes results fail. */
const spentOn = (price: number, quantity: number) => (Math.abs(price) <= MAX_PRICE ? price * quantity : 0);

/** Of a row of `events`. */
export const deedIn = (row: SqlRow): Deed => {
  const isPurchase = row['product_id'] !== null;
  return {
    name: deedName(row['name'], row['product_id']),
    timeMs: Math.round(numberIn(row, 'time')),
    spent: isPurchase ? spentOn(numberIn(row, 'price'), numberIn(row, 'quantity')) : 0,
    currency: isPurchase ? textIn(row, 'currency') : '',
  };
};

/** Whose events are asked for, from a moment on, and by which names. */
export interface DeedsSince {
  userId: number;
  sinceMs: number;
  /** Of events, and IDs of products. */
  names: readonly string[];
}

/** The names are a list as the dialect writes it. */
export const DEEDS_SINCE = columns<Omit<DeedsSince, 'names'> & { names: string }>({
  user_id: ['bigint', ({ userId }) => userId],
  since: ['moment', ({ sinceMs }) => sinceMs],
  names: ['text', ({ names }) => names],
});

const NOTHING: Reached = [0, 0, ''];

const sumOf = (one: Reached, [events, spent, currencies]: Reached): Reached => {
  const all = new Set([...one[2].split(','), ...currencies.split(',')].filter((each) => each !== ''));
  return [one[0] + events, one[1] + spent, [...all].sort().join(',')];
};

/** What one user has reached who was two. */
export const reachedByBoth = (
  one: Record<string, Reached>,
  other: Record<string, Reached>,
): Record<string, Reached> => {
  const both = { ...one };
  for (const [goal, reached] of Object.entries(other)) both[goal] = sumOf(both[goal] ?? NOTHING, reached);
  return both;
};

/**
 * What a user has reached once they did these things as well, which no goal has counted yet. `firstMs` is their first impression.
 * Returns the same object where nothing is new.
 */
export const reachedWith = (
  before: Record<string, Reached>,
  goals: readonly Goal[],
  firstMs: number | null,
  deeds: readonly Deed[],
): Record<string, Reached> => {
  let reached = before;
  if (firstMs === null) return reached;
  for (const { name, timeMs, spent, currency } of deeds) {
    for (const { goal, name: wanted, withinMs } of goals) {
      if (name !== wanted || timeMs < firstMs || timeMs > firstMs + withinMs) continue;
      reached = { ...reached, [goal]: sumOf(reached[goal] ?? NOTHING, [1, spent, currency]) };
    }
  }
  return reached;
};

/**
 * What a user had reached by events that are gone: what was counted beyond those that are still there. Retention deletes events, and
 * goals that are counted anew keep these. `firstMs` is the first impression by which they were counted.
 */
export const reachedByGone = (
  counted: Record<string, Reached>,
  goals: readonly Goal[],
  firstMs: number | null,
  deeds: readonly Deed[],
): Record<string, Reached> => {
  const shown = reachedWith({}, goals, firstMs, deeds);
  const gone: Record<string, Reached> = {};
  for (const { goal } of goals) {
    const [[events, spent, currencies], [still, spentStill]] = [
      counted[goal] ?? NOTHING,
      shown[goal] ?? NOTHING,
    ];
    if (events > still) gone[goal] = [events - still, spent - spentStill, currencies];
  }
  return gone;
};

/** A row of `goal_counts`, or what is added to one. */
export interface GoalCount {
  workspaceId: string;
  campaignId: string;
  /** `''` of the control group. */
  variantId: string;
  goal: string;
  currencies: string;
  converted: number;
  revenue: number;
  squares: number;
}

/** The goals of all campaigns that are counted, in memory. */
export interface KeptGoals {
  /** 0 where there are none. */
  version: number;
  ofCampaign(workspaceId: string, campaignId: string): readonly Goal[];
  /** Campaigns that have a goal of this name. */
  campaignsWith(workspaceId: string, name: string): readonly string[];
  /** Of events, and IDs of products, that some campaign has for a goal. */
  names(workspaceId: string): readonly string[];
}

const parseGoal = (goal: string): Goal => {
  const [space, colon] = [goal.indexOf(' '), goal.indexOf(':')];
  const name = goal.slice(space + 1);
  return {
    goal,
    name,
    withinMs: Number(goal.slice(0, space)),
    isEvent: name.startsWith('event:'),
    value: goal.slice(colon + 1),
  };
};

const NONE: readonly string[] = [];
const NO_GOALS: readonly Goal[] = [];

/** The goals of all campaigns, in both databases. */
export const READ_GOALS = 'SELECT workspace_id, campaign_id, goals, version, counted_to FROM campaign_goals';
export const READ_CAMPAIGN_GOALS = `${READ_GOALS} WHERE workspace_id = $1 AND campaign_id = $2`;

export const goalsOf = (row: SqlRow): Goal[] => textsIn(row, 'goals').map(parseGoal);

/** Of the rows of `campaign_goals`. */
export const keptGoals = (rows: readonly SqlRow[]): KeptGoals => {
  const workspaces = new Map<
    string,
    { goals: Map<string, Goal[]>; campaigns: Map<string, string[]>; names: string[] }
  >();
  for (const row of rows) {
    const [workspaceId, campaignId] = [textIn(row, 'workspace_id'), textIn(row, 'campaign_id')];
    const known = workspaces.get(workspaceId) ?? { goals: new Map(), campaigns: new Map(), names: [] };
    workspaces.set(workspaceId, known);
    const goals = goalsOf(row);
    known.goals.set(campaignId, goals);
    for (const name of new Set(goals.map((goal) => goal.name)))
      known.campaigns.set(name, [...(known.campaigns.get(name) ?? []), campaignId]);
    known.names = [...new Set([...known.names, ...goals.map(({ value }) => value)])];
  }
  return {
    version: Math.max(0, ...rows.map((row) => numberIn(row, 'version'))),
    ofCampaign: (workspaceId, campaignId) => workspaces.get(workspaceId)?.goals.get(campaignId) ?? NO_GOALS,
    campaignsWith: (workspaceId, name) => workspaces.get(workspaceId)?.campaigns.get(name) ?? NONE,
    names: (workspaceId) => workspaces.get(workspaceId)?.names ?? NONE,
  };
};

/** What a user did. */
export interface DeedOfUser {
  workspaceId: string;
  userId: number;
  deed: Deed;
}

const at = (column: string): number => EVENTS.findIndex(({ name }) => name === column);
const [WORKSPACE, NAME, PRODUCT] = [at('workspace_id'), at('name'), at('product_id')];

/**
 * The events of a group that are goals of a campaign. Each event has the values of its columns, as `EVENTS` has them: nearly every one is
 * no goal, and needs no row of its own.
 */
export const deedsAmong = (events: Iterable<readonly unknown[]>, kept: KeptGoals): DeedOfUser[] => {
  const deeds: DeedOfUser[] = [];
  if (kept.version === 0) return deeds;
  for (const values of events) {
    const workspaceId = String(values[WORKSPACE]);
    const isGoal = kept.campaignsWith(workspaceId, deedName(values[NAME], values[PRODUCT])).length > 0;
    if (!isGoal) continue;
    const row = Object.fromEntries(EVENTS.map(({ name }, column) => [name, values[column]]));
    deeds.push({ workspaceId, userId: numberIn(row, 'user_id'), deed: deedIn(row) });
  }
  return deeds;
};
