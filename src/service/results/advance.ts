import { numberIn } from '../operators/index.ts';
import type { Batch } from '../sql/dialect.ts';
import type { Steps } from '../sql/steps.ts';
import { type CountedEvent, countedAs, countedEventIn } from './counted-event.ts';
import { createCounts } from './counts.ts';
import {
  type ConversionEvent,
  conversionEventIn,
  createGoalIndex,
  type Goal,
  type GoalIndex,
  goalIn,
  isBackfilled,
  reachedByDeleted,
  reachedWith,
} from './goals.ts';
import { isEarlier } from './measures.ts';
import {
  cursorIn,
  type EventsSince,
  type FeedCursor,
  type ResultsCursor,
  type ResultsStatements,
  type UserChange,
  userChangeIn,
  userResultIn,
} from './statements.ts';
import {
  addEvents,
  createUserResult,
  type DimensionsOfEvent,
  dimensionsOf,
  mergeResults,
  moveFirst,
  type UserResult,
} from './user-result.ts';

/** Rows that one step reads at most. A step keeps writes waiting on SQLite: these take some 10 ms. */
export const STEP = { userChanges: 100, bannerEvents: 400, events: 10_000 };

/** What a step of the results consumer has done. */
export interface Advanced {
  hasMore: boolean;
  /** Receipt of the last banner event that is counted, in Unix milliseconds. */
  readToMs: number;
}

/** A banner event that a merge has removed, as `user_changes` holds it. */
type RemovedEvent = DimensionsOfEvent &
  Pick<CountedEvent, 'campaignId' | 'holdoutId' | 'eventType'> & { bannerEventId: number };

/** What a step reads of the feed. */
interface Facts {
  cursor: ResultsCursor;
  /** How far it will have read. */
  next: ResultsCursor;
  goals: GoalIndex;
  changes: UserChange[];
  /** In commit order, with a second one for the holdout that an event names. */
  bannerEvents: CountedEvent[];
  events: ConversionEvent[];
}

/**
 * Reads the next facts of the feed. All changes of users that are visible are applied before any later row: rows have the user of this
 * moment, and a row that a merge has removed is never read.
 */
function* readFacts(statements: ResultsStatements, through: FeedCursor | null): Steps<Facts> {
  const [cursorRows, goalRows, ...lastRows] = yield [
    statements.cursor(),
    statements.goals(),
    ...(through ? [] : statements.last),
  ];
  const cursor = cursorIn(cursorRows![0]);
  const goals = createGoalIndex((goalRows ?? []).map(goalIn));
  const [events, bannerEvents, userChanges] = lastRows.map(([row]) => numberIn(row!, 'id'));
  const last = through ?? { events: events!, bannerEvents: bannerEvents!, userChanges: userChanges! };

  const maxChanges = STEP.userChanges + cursor.ahead.length;
  const lastEvent =
    goals.values.length === 0 ? last.events : Math.min(last.events, cursor.events + STEP.events);
  const [changeRows, bannerRows, eventRows] = yield [
    statements.userChanges(cursor.userChanges, maxChanges),
    statements.bannerEvents(cursor.bannerEvents, last.bannerEvents, STEP.bannerEvents),
    statements.conversionEvents(cursor.events, lastEvent, goals.values),
  ];
  const ahead = new Set(cursor.ahead);
  const visible = changeRows!.map(userChangeIn);
  const changes = visible.filter(({ changeId }) => !ahead.has(changeId));
  // One that is not settled yet may be followed by another with a lower ID.
  const isSettled = ({ changeId }: UserChange) => changeId <= last.userChanges;
  const userChangesTo = visible.findLast(isSettled)?.changeId ?? cursor.userChanges;
  const applied = [...cursor.ahead, ...changes.map(({ changeId }) => changeId)];
  const next = { ...cursor, userChanges: userChangesTo, ahead: applied.filter((id) => id > userChangesTo) };
  if (visible.length === maxChanges) return { cursor, next, goals, changes, bannerEvents: [], events: [] };
  const read = bannerRows!.map(countedEventIn);
  return {
    cursor,
    next: {
      ...next,
      events: Math.max(cursor.events, lastEvent),
      bannerEvents:
        read.length === STEP.bannerEvents
          ? numberIn(bannerRows!.at(-1)!, 'banner_event_id')
          : Math.max(cursor.bannerEvents, last.bannerEvents),
      readToMs: Math.max(cursor.readToMs, read.at(-1)?.receivedAtMs ?? 0),
    },
    goals,
    changes,
    bannerEvents: read.filter(({ isTestSend }) => !isTestSend).flatMap(countedAs),
    events: eventRows!.map(conversionEventIn),
  };
}

/** A user with what they did, by campaign. */
interface UserResults {
  workspaceId: string;
  campaigns: Map<string, UserResult>;
}

const keyOf = (...parts: (string | number)[]) => parts.join('\u001f');

/** The results of users as they were before the step, as far as the step may change them. */
function* readResults(
  statements: ResultsStatements,
  { changes, bannerEvents, events }: Facts,
): Steps<Map<number, UserResults>> {
  const changed = new Set(changes.flatMap(({ userId, intoUserId }) => [userId, intoUserId ?? userId]));
  const users = new Map<number, UserResults>();
  const all = new Set([...changed, ...[...bannerEvents, ...events].map(({ userId }) => userId)]);
  if (all.size === 0) return users;
  const [totals] = yield [statements.totals([...all])];
  for (const row of totals!) {
    const { userId, workspaceId, campaignId, variantId, firstImpressionMs, tallies, goals } =
      userResultIn(row);
    const user = users.get(userId) ?? { workspaceId, campaigns: new Map() };
    users.set(userId, user);
    const result = {
      ...createUserResult(campaignId),
      variantId,
      firstImpressionMs,
      tallies,
      goals: goals ?? {},
    };
    if (firstImpressionMs !== null) result.countedFirstsMs.push(firstImpressionMs);
    user.campaigns.set(campaignId, result);
  }

  // A dimension counts for the variant of its user: all move with the first impression to another one.
  const moving = new Map<string, { userId: number; campaignId: string; dimension: string }>();
  const touched = new Map<string, { userId: number; campaignId: string; dimension: string }>();
  for (const event of bannerEvents) {
    const { userId, campaignId, eventType, variantId, atMs } = event;
    const result = users.get(userId)?.campaigns.get(campaignId);
    if (!result || changed.has(userId)) continue;
    const isFirst =
      eventType === 'impression' && moveFirst({ ...result }, { variantId, firstImpressionMs: atMs });
    if (isFirst && (result.tallies.impressions <= 0 || variantId !== result.variantId))
      moving.set(keyOf(userId, campaignId), { userId, campaignId, dimension: '' });
    for (const dimension of dimensionsOf(event))
      touched.set(keyOf(userId, campaignId, dimension), { userId, campaignId, dimension });
  }
  const rows = (yield [
    statements.dimensionsOfUsers([...changed]),
    statements.dimensionsOfCampaigns([...moving.values()]),
    statements.dimensions(
      [...touched.values()].filter(({ userId, campaignId }) => !moving.has(keyOf(userId, campaignId))),
    ),
  ]).flat();
  for (const row of rows) {
    const { userId, campaignId, dimension, tallies } = userResultIn(row);
    users.get(userId)?.campaigns.get(campaignId)?.dimensions.set(dimension, tallies);
  }
  return users;
}

/** Whose goals a step must count from the beginning, and since when: users who were merged, or have an earlier first impression. */
const recountedSince = (
  { goals, changes, bannerEvents }: Facts,
  users: ReadonlyMap<number, UserResults>,
): EventsSince[] => {
  const since = new Map<number, number>();
  if (goals.values.length === 0) return [];
  const ask = (userId: number, ms: number) => since.set(userId, Math.min(since.get(userId) ?? ms, ms));
  for (const { kind, intoUserId } of changes) if (kind === 'merged') ask(intoUserId!, 0);
  for (const { userId, campaignId, eventType, variantId, atMs } of bannerEvents) {
    if (eventType !== 'impression') continue;
    const known = users.get(userId)?.campaigns.get(campaignId);
    if (!known || isEarlier({ variantId, firstImpressionMs: atMs }, known)) ask(userId, atMs);
  }
  return [...since].map(([userId, sinceMs]) => ({ userId, sinceMs }));
};

/**
 * One step of the results consumer, within one transaction: reads the next facts, applies them to the results of their users and to the
 * counts of campaigns, and moves the cursor. `through` is how far the feed is settled; `null` if all that is visible is.
 */
export function* advanceResults(
  statements: ResultsStatements,
  through: FeedCursor | null = null,
): Steps<Advanced> {
  const facts = yield* readFacts(statements, through);
  const { cursor, next, goals, changes, bannerEvents, events } = facts;
  const isSame =
    changes.length === 0 &&
    next.bannerEvents === cursor.bannerEvents &&
    next.events === cursor.events &&
    next.userChanges === cursor.userChanges;
  if (isSame) return { hasMore: yield* backfillGoals(statements, goals.all), readToMs: cursor.readToMs };

  const users = yield* readResults(statements, facts);
  const asked = recountedSince(facts, users);
  const recounted =
    asked.length === 0 ? [] : (yield [statements.conversionEventsOf(asked, goals.values, cursor.events)])[0]!;
  const eventsOfUser = Map.groupBy(recounted.map(conversionEventIn), ({ userId }) => userId);

  const counts = createCounts();
  const changed = new Set<UserResult>();
  const change = (workspaceId: string, result: UserResult) => {
    if (!changed.has(result)) counts.subtract(workspaceId, result);
    changed.add(result);
  };
  const recount = new Set<UserResult>();
  const gone = new Set<number>();

  for (const { kind, workspaceId, userId, intoUserId, bannerEvent } of changes) {
    const user = users.get(userId);
    if (kind === 'repeat') {
      const removed = bannerEvent as RemovedEvent;
      // A later one was never counted, because it is not there any more.
      if (removed.bannerEventId > cursor.bannerEvents || !user) continue;
      for (const event of countedAs(removed)) {
        const result = user.campaigns.get(event.campaignId);
        if (!result) continue;
        change(workspaceId, result);
        addEvents(result, event, -1);
      }
      continue;
    }
    gone.add(userId);
    users.delete(userId);
    // The counts of a user whom retention removes stay.
    if (kind === 'expired') continue;
    for (const result of user?.campaigns.values() ?? []) change(workspaceId, result);
    if (kind === 'erased') continue;
    const into = users.get(intoUserId!) ?? { workspaceId, campaigns: new Map<string, UserResult>() };
    users.set(intoUserId!, into);
    for (const merged of user?.campaigns.values() ?? []) {
      const kept = into.campaigns.get(merged.campaignId);
      if (kept) {
        change(workspaceId, kept);
        mergeResults(kept, merged);
      } else into.campaigns.set(merged.campaignId, merged);
    }
    // Events of the merged user count for every campaign of this one, also if the merged user had seen none.
    for (const result of into.campaigns.values()) recount.add(result);
  }

  for (const event of bannerEvents) {
    const { userId, workspaceId, campaignId, eventType, variantId, atMs } = event;
    const user = users.get(userId) ?? { workspaceId, campaigns: new Map<string, UserResult>() };
    users.set(userId, user);
    const result = user.campaigns.get(campaignId) ?? createUserResult(campaignId);
    user.campaigns.set(campaignId, result);
    change(workspaceId, result);
    const isFirst = eventType === 'impression' && moveFirst(result, { variantId, firstImpressionMs: atMs });
    if (isFirst) recount.add(result);
    addEvents(result, event, 1);
  }

  const newEvents = Map.groupBy(events, ({ userId }) => userId);
  for (const [userId, { workspaceId, campaigns }] of users) {
    for (const result of campaigns.values()) {
      const ofCampaign = goals.ofCampaign(workspaceId, result.campaignId);
      const firsts = result.firstImpressionMs === null ? [] : [result.firstImpressionMs];
      let reached = result.goals;
      if (recount.has(result)) {
        const before = eventsOfUser.get(userId) ?? [];
        const deleted = reachedByDeleted(reached, ofCampaign, result.countedFirstsMs, before);
        reached = reachedWith(deleted, ofCampaign, firsts, before);
      }
      reached = reachedWith(reached, ofCampaign, firsts, newEvents.get(userId) ?? []);
      if (reached === result.goals) continue;
      change(workspaceId, result);
      result.goals = reached;
    }
  }

  yield [...write(statements, users, changed, counts, [...gone]), statements.writeCursor(next)];
  return { hasMore: true, readToMs: next.readToMs };
}

const write = (
  statements: ResultsStatements,
  users: ReadonlyMap<number, UserResults>,
  changed: ReadonlySet<UserResult>,
  counts: ReturnType<typeof createCounts>,
  gone: readonly number[],
): Batch[] => {
  const rows = [...users].flatMap(([userId, { workspaceId, campaigns }]) =>
    [...campaigns.values()].flatMap((result) => {
      if (!changed.has(result)) return [];
      counts.add(workspaceId, result);
      const { campaignId, variantId, firstImpressionMs, goals } = result;
      const of = { userId, campaignId, workspaceId };
      const total = { ...of, dimension: '', tallies: result.tallies, variantId, firstImpressionMs, goals };
      const none = { variantId: null, firstImpressionMs: null, goals: null };
      return [
        total,
        ...[...result.dimensions].map(([dimension, tallies]) => ({ ...of, dimension, tallies, ...none })),
      ];
    }),
  );
  return [
    ...(gone.length > 0 ? [statements.deleteUsers(gone)] : []),
    statements.writeUserResults(rows),
    statements.addCampaignCounts(counts.campaigns()),
    statements.addGoalCounts(counts.goals()),
  ];
};

/**
 * Counts events from before a goal was added, from the oldest that is kept. All goals that are as far take the step together. Returns
 * whether there are more.
 */
function* backfillGoals(statements: ResultsStatements, goals: readonly Goal[]): Steps<boolean> {
  const open = goals.filter((goal) => !isBackfilled(goal));
  if (open.length === 0) return false;
  const from = Math.min(...open.map(({ backfilledThrough }) => backfilledThrough));
  const through = Math.min(
    from + STEP.events,
    ...open.flatMap(({ addedAfter, backfilledThrough }) =>
      backfilledThrough > from ? [backfilledThrough] : [addedAfter],
    ),
  );
  const index = createGoalIndex(
    open
      .filter(({ backfilledThrough }) => backfilledThrough === from)
      .map((goal) => ({ ...goal, backfilledThrough: through })),
  );
  const events = (yield [statements.conversionEvents(from, through, index.values)])[0]!.map(
    conversionEventIn,
  );
  const ofUser = Map.groupBy(events, ({ userId }) => userId);
  const totals =
    ofUser.size === 0 ? [] : (yield [statements.totals([...ofUser.keys()])])[0]!.map(userResultIn);
  const counts = createCounts();
  const users = new Map<number, UserResults>();
  const changed = new Set<UserResult>();
  for (const {
    userId,
    workspaceId,
    campaignId,
    variantId,
    firstImpressionMs,
    tallies,
    goals: before,
  } of totals) {
    const result = {
      ...createUserResult(campaignId),
      variantId,
      firstImpressionMs,
      tallies,
      goals: before ?? {},
    };
    const firsts = firstImpressionMs === null ? [] : [firstImpressionMs];
    const ofCampaign = index.ofCampaign(workspaceId, campaignId);
    const reached = reachedWith(result.goals, ofCampaign, firsts, ofUser.get(userId)!);
    if (reached === result.goals) continue;
    counts.subtract(workspaceId, result);
    result.goals = reached;
    changed.add(result);
    const user = users.get(userId) ?? { workspaceId, campaigns: new Map() };
    users.set(userId, user);
    user.campaigns.set(campaignId, result);
  }
  yield [...write(statements, users, changed, counts, []), statements.setBackfilled(from, through)];
  return true;
}

/** Adds goals that are not known. Returns whether there were any. */
export function* addGoals(
  statements: ResultsStatements,
  workspaceId: string,
  campaignId: string,
  asked: readonly string[],
): Steps<boolean> {
  const [cursorRows, goalRows] = yield [statements.cursor(), statements.goals()];
  const known = createGoalIndex(goalRows!.map(goalIn)).ofCampaign(workspaceId, campaignId);
  const added = new Set(asked.filter((goal) => !known.some((each) => each.goal === goal)));
  if (added.size === 0) return false;
  const addedAfter = cursorIn(cursorRows![0]).events;
  yield [statements.addGoals([...added].map((goal) => ({ workspaceId, campaignId, goal, addedAfter })))];
  return true;
}
