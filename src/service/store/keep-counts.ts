import { jsonIn, numberIn, type SqlRow } from '../operators/index.ts';
import type { Changes } from '../profiles/user-set.ts';
import {
  addEvent,
  type CampaignState,
  countedAs,
  createCounts,
  mergeUsers,
  type UserState,
} from './campaign-state.ts';
import { type Batch, type Dialect, query, type Send } from './dialect.ts';
import { type Deed, deedIn, goalsOf, type KeptGoals, nameOfGoal, reachedWith } from './goals.ts';
import { alikeOf, BANNER_EVENTS, type DeedsSince, stateOf } from './rows.ts';
import type { Statements } from './statements.ts';

/** The tables of counts, as one writer sees them. */
export interface CountedTables {
  dialect: Dialect;
  statements: Statements;
  /** Of the counts that all replicas add to. */
  lane: number;
}

/** What may change the counts of campaigns, of all that a group has changed. */
export type CountedChanges = Pick<Changes, 'moved' | 'uncounted' | 'bannerEvents'> & {
  /** Events that some campaign has for a goal. */
  deeds: readonly { workspaceId: string; userId: number; deed: Deed }[];
};

/** Whether there is anything to count. */
export const changesCounts = ({ moved, uncounted, bannerEvents, deeds }: CountedChanges): boolean =>
  moved.length + uncounted.length + bannerEvents.length + deeds.length > 0;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Whose deeds may reach goals that nobody has counted: of users who may have another first impression, from then on. */
const deedsToRead = (
  { dialect }: CountedTables,
  kept: KeptGoals,
  { moved, bannerEvents }: CountedChanges,
): DeedsSince[] => {
  const asked = new Map<number, DeedsSince>();
  const ask = (workspaceId: string, userId: number, sinceMs: number) => {
    const names = kept.names(workspaceId);
    if (names.length === 0) return;
    const known = asked.get(userId) ?? { userId, sinceMs, names: dialect.list(names) };
    asked.set(userId, { ...known, sinceMs: Math.min(known.sinceMs, sinceMs) });
  };
  for (const { workspaceId, to } of moved) ask(workspaceId, to, 0);
  for (const { workspaceId, userId, event } of bannerEvents)
    if (event.eventType === 'impression' && !event.isTestSend)
      ask(workspaceId, userId, Math.min(event.timeMs, event.receivedAtMs));
  return [...asked.values()];
};

/** What the counts follow from. */
export interface Found<Rows> {
  /** The rows of `user_campaigns`, as they were. */
  states: Rows;
  /** Of each user who became another: banner events that the other has as well. */
  repeats: Rows[];
  /** Banner events that were stored, and are no repeats. */
  stored: Rows;
  /** What users did that may reach goals, the group's own events among it. */
  deeds: Rows;
}

/**
 * Stores banner events, and asks for what the counts follow from. No question needs the answer to another one, but each its place in
 * their order. The group's other events are stored by then; users who go are still there.
 */
export const storeBannerEvents = <Rows>(
  send: Send<Rows>,
  tables: CountedTables,
  kept: KeptGoals,
  changes: CountedChanges,
): Found<Rows> => {
  const { dialect, statements } = tables;
  const { moved, uncounted, bannerEvents, deeds } = changes;
  const whole = [...moved.flatMap(({ from, to }) => [from, to]), ...uncounted];
  const users = dialect.list(
    distinct([...whole, ...[...bannerEvents, ...deeds].map(({ userId }) => userId)]),
  );
  const campaigns = [
    ...bannerEvents.flatMap(({ event }) => countedAs(event).map(({ campaignId }) => campaignId)),
    ...deeds.flatMap(({ workspaceId, deed }) => kept.campaignsWith(workspaceId, deed.name)),
  ];
  return {
    states: send(
      whole.length > 0
        ? statements.statesOf(users)
        : statements.statesOfCampaigns(users, dialect.list(distinct(campaigns))),
    ),
    // Several may become the same user, so that each takes its turn.
    repeats: moved.map(({ from, to }) => {
      const repeats = send(statements.repeats(from, to));
      send(statements.moveEvents(from, to));
      send(statements.moveBannerEvents(from, to));
      return repeats;
    }),
    // After the moves: what a user had before they were merged is a repeat as well.
    stored: send(statements.insertBannerEvents(bannerEvents)),
    deeds: send(statements.deedsSince(deedsToRead(tables, kept, changes))),
  };
};

/** Names a banner event among those of a group, by its columns. */
const NAMING = BANNER_EVENTS.filter(({ name }) =>
  ['user_id', 'banner_id', 'event_type', 'time'].includes(name),
);
const nameOf = (valueIn: (column: (typeof NAMING)[number]) => unknown) =>
  NAMING.map((column) => {
    const value = valueIn(column);
    return column.type === 'moment' ? Math.round(Number(value)) : value;
  }).join(' ');

/** The events that were stored. Of two alike in one group the first was. */
const freshOf = (bannerEvents: Changes['bannerEvents'], stored: readonly SqlRow[]) => {
  const fresh = new Set(stored.map((row) => nameOf(({ name }) => row[name])));
  return bannerEvents.filter((event) => fresh.delete(nameOf(({ of }) => of(event))));
};

/** A user whose counts may change, with their states by campaign. */
interface CountedUser {
  workspaceId: string;
  states: Map<string, CampaignState>;
}

const writeCounts = (
  { statements, lane }: CountedTables,
  states: readonly UserState[],
  counts: ReturnType<typeof createCounts>,
): Batch[] => {
  const { campaigns, goals } = counts.rows();
  const inLane = <T>(rows: readonly T[]) => rows.map((row) => ({ ...row, lane }));
  return [
    statements.writeStates(states),
    statements.addCampaignCounts(inLane(campaigns)),
    statements.addGoalCounts(inLane(goals)),
  ];
};

/**
 * Counts what a group has changed: each state that changes is taken out of the counts as it was, and added as it is then. Returns what
 * is to be written.
 */
export const keepCounts = (
  tables: CountedTables,
  kept: KeptGoals,
  { moved, uncounted, bannerEvents, deeds }: CountedChanges,
  found: Found<SqlRow[]>,
): Batch[] => {
  const counts = createCounts();
  const users = new Map<number, CountedUser>();
  const userOf = (workspaceId: string, userId: number): CountedUser => {
    const user = users.get(userId) ?? { workspaceId, states: new Map() };
    users.set(userId, user);
    return user;
  };
  for (const { workspaceId, userId, state } of found.states.map(stateOf))
    userOf(workspaceId, userId).states.set(state.campaignId, state);

  const changed = new Set<CampaignState>();
  /** Those with another first impression: what they have reached is counted from the beginning. */
  const anew = new Set<CampaignState>();
  const change = (workspaceId: string, state: CampaignState) => {
    if (!changed.has(state)) counts.takeAway({ workspaceId, state });
    changed.add(state);
  };

  for (const [index, { workspaceId, from, to }] of moved.entries()) {
    const [one, other] = [userOf(workspaceId, to), userOf(workspaceId, from)].map(({ states }) => [
      ...states.values(),
    ]);
    for (const state of [...one!, ...other!]) change(workspaceId, state);
    const merged = mergeUsers(one!, other!, found.repeats[index]!.map(alikeOf));
    for (const state of merged) anew.add(state);
    users.set(to, { workspaceId, states: new Map(merged.map((state) => [state.campaignId, state])) });
    users.delete(from);
  }

  for (const userId of uncounted) {
    const user = users.get(userId);
    for (const state of user?.states.values() ?? []) change(user!.workspaceId, state);
    users.delete(userId);
  }

  for (const { workspaceId, userId, event } of freshOf(bannerEvents, found.stored)) {
    if (event.isTestSend) continue;
    const { states } = userOf(workspaceId, userId);
    for (const each of countedAs(event)) {
      const before = states.get(each.campaignId) ?? null;
      if (before) change(workspaceId, before);
      const firstMs = before?.firstImpressionMs ?? null;
      const state = addEvent(before, each);
      states.set(each.campaignId, state);
      changed.add(state);
      if (state.firstImpressionMs !== firstMs) anew.add(state);
    }
  }

  const all = Map.groupBy(found.deeds, (row) => numberIn(row, 'user_id'));
  const fresh = Map.groupBy(deeds, ({ userId }) => userId);
  const after: UserState[] = [];
  for (const [userId, { workspaceId, states }] of users) {
    for (const state of states.values()) {
      const goals = kept.ofCampaign(workspaceId, state.campaignId);
      const reached = anew.has(state)
        ? reachedWith({}, goals, state.firstImpressionMs, (all.get(userId) ?? []).map(deedIn))
        : reachedWith(
            state.goals,
            goals,
            state.firstImpressionMs,
            (fresh.get(userId) ?? []).map(({ deed }) => deed),
          );
      if (reached !== state.goals) {
        change(workspaceId, state);
        state.goals = reached;
      }
      if (changed.has(state)) after.push({ workspaceId, userId, state });
    }
  }
  after.forEach(counts.add);
  return writeCounts(tables, after, counts);
};

/** Of both databases, like the statements below. */
export const READ_GOALS =
  'SELECT workspace_id, campaign_id, goals, version, counted_to FROM campaign_goals WHERE workspace_id = $1 AND campaign_id = $2';
const SET_GOALS = `INSERT INTO campaign_goals (workspace_id, campaign_id, goals, version, counted_to)
  VALUES ($1, $2, $3, (SELECT coalesce(max(version), 0) + 1 FROM campaign_goals), 0)
  ON CONFLICT (workspace_id, campaign_id)
  DO UPDATE SET goals = excluded.goals, version = excluded.version, counted_to = 0`;
const SET_COUNTED = 'UPDATE campaign_goals SET counted_to = $3 WHERE workspace_id = $1 AND campaign_id = $2';

/** Users whom one step counts: some 20 ms. */
export const STATES_A_STEP = 1_000;
/** A campaign keeps goals that it had before, up to so many. */
const MAX_GOALS = 20;

/** A step of counting the goals of a campaign that it did not have before. */
export interface GoalStep {
  workspaceId: string;
  campaignId: string;
  /** As `goalOf` has them. */
  goals: readonly string[];
}

/** What a step follows from. */
interface FoundGoals<Rows> {
  goals: Rows;
  states: Rows;
}

export const askGoals = <Rows>(
  send: Send<Rows>,
  { statements }: CountedTables,
  { workspaceId, campaignId }: GoalStep,
): FoundGoals<Rows> => ({
  goals: send(query(READ_GOALS, workspaceId, campaignId)),
  states: send(statements.statesToCount(workspaceId, campaignId, STATES_A_STEP)),
});

/** What the users of a step did since their first impression. */
export const deedsOf = (
  { dialect, statements }: CountedTables,
  { goals, states }: FoundGoals<SqlRow[]>,
): Batch => {
  const names = dialect.list(distinct(goals.flatMap(goalsOf).map(nameOfGoal)));
  return statements.deedsSince(
    states
      .map(stateOf)
      .flatMap(({ userId, state: { firstImpressionMs: sinceMs } }) =>
        sinceMs === null ? [] : [{ userId, sinceMs, names }],
      ),
  );
};

/**
 * Counts the goals of some users of a campaign from the beginning, while nothing else is written. Users of before a step may reach
 * goals in between: what a step finds in their events is right whatever was counted by then. A goal that was there before keeps
 * what it had where events of it are gone by retention. Goals are added, and those of before stay: a replica with an older file, which
 * asks for these, must not take away what another one counts.
 */
export const countGoals = (
  tables: CountedTables,
  { workspaceId, campaignId, goals: asked }: GoalStep,
  found: FoundGoals<SqlRow[]>,
  deeds: readonly SqlRow[],
): { writes: Batch[]; hasMore: boolean } => {
  const [row] = found.goals;
  const known = row ? (jsonIn(row, 'goals') as string[]) : [];
  const all = distinct([...known, ...asked]);
  if (all.length > known.length) {
    const goals = JSON.stringify((all.length > MAX_GOALS ? [...asked] : all).sort());
    return { writes: [query(SET_GOALS, workspaceId, campaignId, goals)], hasMore: true };
  }
  if (!row || row['counted_to'] === null) return { writes: [], hasMore: false };
  const goals = goalsOf(row);
  const counts = createCounts();
  const byUser = Map.groupBy(deeds, (each) => numberIn(each, 'user_id'));
  const states = found.states.map(stateOf);
  const changed = states.filter((each) => {
    const { state, userId } = each;
    const reached = reachedWith({}, goals, state.firstImpressionMs, (byUser.get(userId) ?? []).map(deedIn));
    for (const { goal } of goals) {
      const before = state.goals[goal];
      if (before && before[0] > (reached[goal]?.[0] ?? 0)) reached[goal] = before;
    }
    if (JSON.stringify(reached) === JSON.stringify(state.goals)) return false;
    counts.takeAway(each);
    state.goals = reached;
    counts.add(each);
    return true;
  });
  const last = states.length < STATES_A_STEP ? null : states.at(-1)!.userId;
  return {
    writes: [...writeCounts(tables, changed, counts), query(SET_COUNTED, workspaceId, campaignId, last)],
    hasMore: last !== null,
  };
};
