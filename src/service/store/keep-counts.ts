import { jsonIn, numberIn, type RunSql } from '../operators/index.ts';
import type { Changes } from '../profiles/user-set.ts';
import {
  type AlikeEvents,
  addEvent,
  type CampaignCount,
  createCounts,
  mergeUsers,
  repeatsOf,
  type UserState,
} from './campaign-state.ts';
import { addDeed, type Deed, type GoalCount, type KeptGoals, keptGoals } from './goals.ts';

/** What one database answers at once, the other later. */
export type Later<T> = T | Promise<T>;

/** What is asked of the tables while counts are kept. */
export interface CountedTables {
  /** The rows of `user_campaigns` of these users, all or those of some campaigns. */
  statesOf(userIds: readonly number[], campaignIds?: readonly string[]): Later<UserState[]>;
  /** Some rows of a campaign, in the order of their users. */
  statesAfter(workspaceId: string, campaignId: string, userId: number): Later<UserState[]>;
  alikeEvents(userId: number): Later<AlikeEvents[]>;
  /** All events of one user become another's. */
  moveEvents(from: number, to: number): Later<unknown>;
  /** Stores banner events, and answers which of them are no repeats. */
  insertBannerEvents(events: Changes['bannerEvents']): Later<Changes['bannerEvents']>;
  /** What users did since a moment each, as far as it has one of these names: of an event, or the ID of a product. */
  deedsSince(
    users: readonly { userId: number; sinceMs: number }[],
    names: readonly string[],
  ): Later<{ userId: number; deed: Deed }[]>;
  writeStates(states: readonly UserState[]): Later<unknown>;
  addCounts(counted: Counted): Later<unknown>;
  run: RunSql;
}

/** What is added to the tables of counts. */
export interface Counted {
  campaigns: CampaignCount[];
  goals: GoalCount[];
}

/** A sequence of questions. Both databases ask the same ones: SQLite's thread within one turn, as others share its connection. */
export type Asking<T> = Generator<unknown, T, never>;

function* answerOf<T>(answer: Later<T>): Generator<unknown, T, never> {
  return (yield answer) as T;
}

/** Of two questions that are asked together. */
function* answersOf<A, B>(one: Later<A>, other: Later<B>): Generator<unknown, [A, B], never> {
  return (yield [one, other]) as [A, B];
}

export const askAtOnce = <T>(asking: Asking<T>): T => {
  let step = asking.next();
  while (!step.done) step = asking.next(step.value as never);
  return step.value;
};

export const askLater = async <T>(asking: Asking<T>): Promise<T> => {
  let step = asking.next();
  while (!step.done) {
    const answer = await (Array.isArray(step.value) ? Promise.all(step.value) : step.value);
    step = asking.next(answer as never);
  }
  return step.value;
};

const distinct = <T>(values: T[]): T[] => [...new Set(values)];
const stateName = (userId: number, campaignId: string) => `${userId} ${campaignId}`;

/** Counts the goals of states anew, from all that their users did. */
function* recountGoals(tables: CountedTables, kept: KeptGoals, states: readonly UserState[]): Asking<void> {
  const counted = states.flatMap(({ workspaceId, userId, state }) => {
    const goals = kept.ofCampaign(workspaceId, state.campaignId);
    state.goals = {};
    return goals.length > 0 && state.firstImpressionMs !== null
      ? [{ userId, sinceMs: state.firstImpressionMs, state, goals }]
      : [];
  });
  if (counted.length === 0) return;
  const since = new Map<number, number>();
  for (const { userId, sinceMs } of counted)
    since.set(userId, Math.min(sinceMs, since.get(userId) ?? sinceMs));
  const users = [...since].map(([userId, sinceMs]) => ({ userId, sinceMs }));
  const names = counted.flatMap(({ goals }) => goals.map(({ name }) => name.slice(name.indexOf(':') + 1)));
  const deeds = yield* answerOf(tables.deedsSince(users, distinct(names)));
  const byUser = Map.groupBy(deeds, ({ userId }) => userId);
  for (const { userId, state, goals } of counted)
    for (const { deed } of byUser.get(userId) ?? []) addDeed(state, goals, deed);
}

/** What may change the counts of campaigns, of all that a group has changed. */
export type CountedChanges = Pick<Changes, 'moved' | 'uncounted' | 'bannerEvents'> & {
  /** Events that some campaign has for a goal. */
  deeds: readonly { workspaceId: string; userId: number; deed: Deed }[];
};

/** Whether there is anything for `keepCounts` to do. */
export const changesCounts = ({ moved, uncounted, bannerEvents, deeds }: CountedChanges): boolean =>
  moved.length + uncounted.length + bannerEvents.length + deeds.length > 0;

/**
 * Stores banner events with what follows from them and from other events: `user_campaigns`, and what is to be added to the
 * counts of campaigns, which is answered. The group's other events are stored by then; users who go are still there.
 */
export function* keepCounts(
  tables: CountedTables,
  kept: KeptGoals,
  changes: CountedChanges,
): Asking<Counted> {
  const counts = createCounts();

  // Several may become the same user, so that each takes its turn.
  for (const { from, to } of changes.moved) {
    const states = yield* answerOf(tables.statesOf([from, to]));
    if (states.length === 0) {
      yield* answerOf(tables.moveEvents(from, to));
      continue;
    }
    states.forEach(counts.takeAway);
    const before = [
      ...(yield* answerOf(tables.alikeEvents(to))),
      ...(yield* answerOf(tables.alikeEvents(from))),
    ];
    yield* answerOf(tables.moveEvents(from, to));
    const repeats = repeatsOf(before, yield* answerOf(tables.alikeEvents(to)));
    const of = (user: number) => states.flatMap(({ userId, state }) => (userId === user ? [state] : []));
    const { workspaceId } = states[0]!;
    const merged = mergeUsers(of(to), of(from), repeats).map((state) => ({ workspaceId, userId: to, state }));
    yield* recountGoals(tables, kept, merged);
    merged.forEach(counts.add);
    yield* answerOf(tables.writeStates(merged));
  }

  if (changes.uncounted.length > 0)
    (yield* answerOf(tables.statesOf(changes.uncounted))).forEach(counts.takeAway);

  const { bannerEvents } = changes;
  // A user who was merged has been counted from all events, these among them.
  const merged = new Set(changes.moved.map(({ to }) => to));
  const done = changes.deeds.flatMap(({ workspaceId, userId, deed }) =>
    merged.has(userId)
      ? []
      : kept
          .campaignsWith(workspaceId, deed.name)
          .map((campaignId) => ({ workspaceId, userId, campaignId, deed })),
  );
  if (bannerEvents.length + done.length === 0) return counts.rows();

  const users = [...bannerEvents, ...done].map(({ userId }) => userId);
  const campaigns = [
    ...bannerEvents.map(({ event }) => event.campaignId),
    ...done.map(({ campaignId }) => campaignId),
  ];
  // After the moves: what a user had before they were merged is a repeat as well.
  const [fresh, found] = yield* answersOf(
    bannerEvents.length > 0 ? tables.insertBannerEvents(bannerEvents) : [],
    tables.statesOf(distinct(users), distinct(campaigns)),
  );
  const known = new Map(found.map((each) => [stateName(each.userId, each.state.campaignId), each]));
  const changed = new Map<string, UserState>();
  const recounted = new Set<UserState>();
  for (const { workspaceId, userId, event } of fresh) {
    if (event.isTestSend) continue;
    const name = stateName(userId, event.campaignId);
    const before = known.get(name);
    if (before && !changed.has(name)) counts.takeAway(before);
    const firstMs = before?.state.firstImpressionMs ?? null;
    const state = addEvent(before?.state ?? null, event);
    const after = before ?? { workspaceId, userId, state };
    known.set(name, after);
    changed.set(name, after);
    if (state.firstImpressionMs !== firstMs) recounted.add(after);
  }
  for (const { workspaceId, userId, campaignId, deed } of done) {
    const name = stateName(userId, campaignId);
    const state = known.get(name);
    if (!state) continue;
    if (!changed.has(name)) counts.takeAway(state);
    if (addDeed(state.state, kept.ofCampaign(workspaceId, campaignId), deed)) changed.set(name, state);
    else if (!changed.has(name)) counts.add(state);
  }
  yield* recountGoals(tables, kept, [...recounted]);
  const states = [...changed.values()];
  states.forEach(counts.add);
  if (states.length > 0) yield* answerOf(tables.writeStates(states));
  return counts.rows();
}

/** Of both databases, like the statements below. */
export const READ_GOALS =
  'SELECT workspace_id, campaign_id, goals, counted_to FROM campaign_goals WHERE workspace_id = $1 AND campaign_id = $2';
const REPLACE_GOALS = `INSERT INTO campaign_goals AS known (workspace_id, campaign_id, goals, version, counted_to)
  VALUES ($1, $2, $3, (SELECT coalesce(max(version), 0) + 1 FROM campaign_goals), 0)
  ON CONFLICT (workspace_id, campaign_id)
  DO UPDATE SET goals = excluded.goals, version = excluded.version, counted_to = 0 WHERE known.goals <> excluded.goals`;
const SET_COUNTED = 'UPDATE campaign_goals SET counted_to = $3 WHERE workspace_id = $1 AND campaign_id = $2';

/** Users whom one step counts: some 20 ms. */
export const STATES_A_STEP = 1_000;

/** A step of counting the goals of a campaign that others have replaced. */
export interface GoalStep {
  workspaceId: string;
  campaignId: string;
  /** JSON as in `campaign_goals`, to be counted from now on; `null` goes on with those that are there. */
  goals: string | null;
}

/**
 * Counts the goals of some users of a campaign anew, while nothing else is written. Answers whether there are more. Users of
 * before a step may reach goals in between: what a step finds in their events is right whatever was counted by then. A goal that
 * was there before keeps what it had where events of it are gone by retention.
 */
export function* countGoals(
  tables: CountedTables,
  { workspaceId, campaignId, goals }: GoalStep,
): Asking<boolean> {
  if (goals !== null) yield* answerOf(tables.run(REPLACE_GOALS, [workspaceId, campaignId, goals]));
  const [row] = yield* answerOf(tables.run(READ_GOALS, [workspaceId, campaignId]));
  if (!row || row['counted_to'] === null) return false;
  const states = yield* answerOf(tables.statesAfter(workspaceId, campaignId, numberIn(row, 'counted_to')));
  const counts = createCounts();
  states.forEach(counts.takeAway);
  const before = new Map(states.map((each) => [each, each.state.goals]));
  yield* recountGoals(tables, keptGoals([row], 0), states);
  const current = new Set(jsonIn(row, 'goals') as string[]);
  for (const [{ state }, goals] of before)
    for (const [goal, reached] of Object.entries(goals))
      if (current.has(goal) && reached[0] > (state.goals[goal]?.[0] ?? 0)) state.goals[goal] = reached;
  states.forEach(counts.add);
  const changed = states.filter(
    (each) => JSON.stringify(each.state.goals) !== JSON.stringify(before.get(each)),
  );
  if (changed.length > 0) yield* answerOf(tables.writeStates(changed));
  yield* answerOf(tables.addCounts(counts.rows()));
  const last = states.length < STATES_A_STEP ? null : states.at(-1)!.userId;
  yield* answerOf(tables.run(SET_COUNTED, [workspaceId, campaignId, last]));
  return last !== null;
}
