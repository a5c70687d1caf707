import { numberIn, type SqlRow } from '../operators/index.ts';
import type { Changes } from '../profiles/user-set.ts';
import {
  addEvent,
  type CampaignState,
  countedAs,
  createCounts,
  mergeUsers,
  type UserState,
} from './campaign-state.ts';
import type { Batch, Send } from './dialect.ts';
import {
  type Deed,
  type DeedOfUser,
  type DeedsSince,
  deedIn,
  type KeptGoals,
  reachedByGone,
  reachedWith,
} from './goals.ts';
import { alikeOf, stateOf } from './rows.ts';
import type { Statements } from './statements.ts';

/** What may change the counts of campaigns, of all that a group has changed. */
export type CountedChanges = Pick<Changes, 'moved' | 'uncounted' | 'bannerEvents'> & {
  /** Events that some campaign has for a goal. */
  deeds: readonly DeedOfUser[];
};

/** Whether there is anything to count. */
export const changesCounts = ({ moved, uncounted, bannerEvents, deeds }: CountedChanges): boolean =>
  moved.length + uncounted.length + bannerEvents.length + deeds.length > 0;

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Users whose first impression may be another one by now. Their goals count anew, from all they did since that moment. */
const deedsToRead = (kept: KeptGoals, { moved, bannerEvents }: CountedChanges): DeedsSince[] => {
  const asked = new Map<number, DeedsSince>();
  const ask = (workspaceId: string, userId: number, sinceMs: number) => {
    const names = kept.names(workspaceId);
    if (names.length === 0) return;
    const known = asked.get(userId) ?? { userId, sinceMs, names };
    asked.set(userId, { ...known, sinceMs: Math.min(known.sinceMs, sinceMs) });
  };
  for (const { workspaceId, from, to } of moved) for (const userId of [from, to]) ask(workspaceId, userId, 0);
  for (const { workspaceId, userId, event } of bannerEvents)
    if (event.eventType === 'impression' && !event.isTestSend)
      ask(workspaceId, userId, Math.min(event.timeMs, event.receivedAtMs));
  return [...asked.values()];
};

/** What the counts follow from. */
export interface FoundCounts<Rows> {
  /** The rows of `user_campaigns`, as they were. */
  states: Rows;
  /** Of each user who became another: banner events that the other has as well. */
  repeats: Rows[];
  /** Banner events that were stored, and are no repeats. */
  stored: Rows;
  /** What users did that may reach goals, the group's own events among it. Read before users are moved: what a merged user did is under their own ID. */
  deeds: Rows;
}

/**
 * Stores banner events, and asks for what the counts follow from. No question needs the answer to another one, but each its place in
 * their order. The group's other events are stored by then; users who go are still there.
 */
export const storeBannerEvents = <Rows>(
  send: Send<Rows>,
  statements: Statements,
  kept: KeptGoals,
  changes: CountedChanges,
): FoundCounts<Rows> => {
  const { moved, uncounted, bannerEvents, deeds } = changes;
  const whole = [...moved.flatMap(({ from, to }) => [from, to]), ...uncounted];
  const users = distinct([...whole, ...[...bannerEvents, ...deeds].map(({ userId }) => userId)]);
  const campaigns = [
    ...bannerEvents.flatMap(({ event }) => countedAs(event).map(({ campaignId }) => campaignId)),
    ...deeds.flatMap(({ workspaceId, deed }) => kept.campaignsWith(workspaceId, deed.name)),
  ];
  return {
    states: send(
      whole.length > 0
        ? statements.statesOf(users)
        : statements.statesOfCampaigns(users, distinct(campaigns)),
    ),
    deeds: send(statements.deedsSince(deedsToRead(kept, changes))),
    // Several may become the same user, so that each takes its turn.
    repeats: moved.map(({ from, to }) => {
      const repeats = send(statements.repeats(from, to));
      send(statements.moveEvents(from, to));
      send(statements.moveBannerEvents(from, to));
      return repeats;
    }),
    // After the moves: what a user had before they were merged is a repeat as well.
    stored: send(statements.insertBannerEvents(bannerEvents)),
  };
};

/** The events that were stored. Of two alike in one group the first was. */
const freshOf = (bannerEvents: Changes['bannerEvents'], stored: readonly SqlRow[]) => {
  const fresh = new Set(
    stored.map((row) =>
      [row['user_id'], row['banner_id'], row['event_type'], Math.round(numberIn(row, 'time'))].join(' '),
    ),
  );
  return bannerEvents.filter(({ userId, event: { bannerId, eventType, timeMs } }) =>
    fresh.delete(`${userId} ${bannerId} ${eventType} ${timeMs}`),
  );
};

const deedsByUser = (deeds: readonly Pick<DeedOfUser, 'userId' | 'deed'>[]): Map<number, Deed[]> =>
  new Map(
    [...Map.groupBy(deeds, ({ userId }) => userId)].map(([userId, all]) => [
      userId,
      all.map(({ deed }) => deed),
    ]),
  );

/** A user whose counts may change, with their states by campaign. */
interface CountedUser {
  workspaceId: string;
  states: Map<string, CampaignState>;
}

export const writeCounts = (
  statements: Statements,
  states: readonly UserState[],
  counts: ReturnType<typeof createCounts>,
): Batch[] => {
  const { campaigns, goals } = counts.rows();
  return [
    statements.writeStates(states),
    statements.addCampaignCounts(campaigns),
    statements.addGoalCounts(goals),
  ];
};

/**
 * Counts what a group has changed: each state that changes is taken out of the counts as it was, and added as it is then. Returns what
 * is to be written.
 */
export const keepCounts = (
  statements: Statements,
  kept: KeptGoals,
  { moved, uncounted, bannerEvents, deeds }: CountedChanges,
  found: FoundCounts<SqlRow[]>,
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
  const change = (workspaceId: string, state: CampaignState) => {
    if (!changed.has(state)) counts.takeAway({ workspaceId, state });
    changed.add(state);
  };

  const read = found.deeds.map((row) => ({ userId: numberIn(row, 'user_id'), deed: deedIn(row) }));
  const all = deedsByUser(read);
  const fresh = deedsByUser(deeds);
  /** States with another first impression, by which all that their user did counts anew: of their goals they keep what is gone. */
  const anew = new Set<CampaignState>();
  const countAnew = (
    { workspaceId }: CountedUser,
    userId: number,
    state: CampaignState,
    firstMs: number | null,
  ) => {
    if (anew.has(state)) return;
    anew.add(state);
    const goals = kept.ofCampaign(workspaceId, state.campaignId);
    // The group's own are among all, and are not counted yet.
    const counted = reachedWith(state.goals, goals, firstMs, fresh.get(userId) ?? []);
    state.goals = reachedByGone(counted, goals, firstMs, all.get(userId) ?? []);
  };

  for (const [index, { workspaceId, from, to }] of moved.entries()) {
    const [one, other] = [to, from].map((userId) => {
      const user = userOf(workspaceId, userId);
      for (const state of user.states.values()) {
        change(workspaceId, state);
        countAnew(user, userId, state, state.firstImpressionMs);
      }
      return [...user.states.values()];
    });
    const merged = mergeUsers(one!, other!, found.repeats[index]!.map(alikeOf));
    all.set(
      to,
      [to, from].flatMap((userId) => all.get(userId) ?? []),
    );
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
    const user = userOf(workspaceId, userId);
    const { states } = user;
    for (const each of countedAs(event)) {
      const before = states.get(each.campaignId) ?? null;
      if (before) change(workspaceId, before);
      const firstMs = before?.firstImpressionMs ?? null;
      const state = addEvent(before, each);
      states.set(each.campaignId, state);
      changed.add(state);
      if (state.firstImpressionMs !== firstMs) countAnew(user, userId, state, firstMs);
    }
  }

  const after: UserState[] = [];
  for (const [userId, { workspaceId, states }] of users) {
    for (const state of states.values()) {
      const goals = kept.ofCampaign(workspaceId, state.campaignId);
      const done = (anew.has(state) ? all : fresh).get(userId) ?? [];
      const reached = reachedWith(state.goals, goals, state.firstImpressionMs, done);
      if (reached !== state.goals) {
        change(workspaceId, state);
        state.goals = reached;
      }
      if (changed.has(state)) after.push({ workspaceId, userId, state });
    }
  }
  after.forEach(counts.add);
  return writeCounts(statements, after, counts);
};
