import { isEarlierImpression } from '../measures.ts';
import { withHoldoutAttribution } from '../profiles/holdout-id.ts';
import type { BulkStatement } from '../sql/dialect.ts';
import type { FeedCursor } from '../sql/feed.ts';
import { readNumber, type SqlRow } from '../sql/row-readers.ts';
import type { SqlSteps } from '../sql/steps.ts';
import { USER_CHANGES } from '../sql/user-tables.ts';
import { type BatchLimits, MAX_BATCH } from './batch-size.ts';
import { type CountedEvent, toCountedEvent } from './counted-event.ts';
import { createCountDeltas } from './counts.ts';
import {
  addConversions,
  type CampaignGoal,
  createGoalIndex,
  type GoalCandidate,
  type GoalIndex,
  isBackfilled,
  toGoal,
  toGoalCandidate,
} from './goals.ts';
import {
  type EventsSince,
  type ResultKey,
  type ResultsCursor,
  type ResultsStatements,
  toCursor,
  type UserChange,
} from './statements.ts';
import { USER_RESULTS, type UserResultRow } from './tables.ts';
import {
  ALL_TIME,
  addUserResultEvent,
  changedRows,
  createUserResult,
  getMonth,
  isChanged,
  markChanged,
  mergeResults,
  toMonth,
  type UserResult,
  updateFirstImpression,
} from './user-result.ts';

/** Result of a batch of the results consumer. */
export interface BatchResult {
  hasMore: boolean;
}

/** Feed rows of one batch. */
interface FeedRows {
  cursor: ResultsCursor;
  /** Cursor after the batch. */
  next: ResultsCursor;
  goals: GoalIndex;
  changes: UserChange[];
  /** Banner events in commit order. Contains an event again for its holdout. */
  bannerEvents: CountedEvent[];
  events: GoalCandidate[];
}

/**
 * Reads the next rows of the feed. Visible changes of users come before any later row, because rows have their current
 * user, and a row that a merge has removed is never read.
 */
function* readFeedRows(
  statements: ResultsStatements,
  through: FeedCursor,
  limits: BatchLimits,
): SqlSteps<FeedRows> {
  const [cursorRows, goalRows] = yield [statements.cursor(), statements.goals()];
  const cursor = toCursor(cursorRows![0]);
  const goals = createGoalIndex((goalRows ?? []).map(toGoal));

  const maxChanges = limits.userChanges + cursor.appliedChangeIds.length;
  const lastEvent = Math.min(through.events, cursor.events + limits.scannedEvents);
  const [changeRows, bannerRows, eventRows] = yield [
    statements.userChanges(cursor.userChanges, maxChanges),
    statements.bannerEvents(cursor.bannerEvents, through.bannerEvents, limits.bannerEvents),
    statements.goalCandidates(cursor.events, lastEvent, goals.values, limits.goalCandidates),
  ];
  const appliedChangeIds = new Set(cursor.appliedChangeIds);
  const visible = changeRows!.map(USER_CHANGES.read);
  const changes = visible.filter(({ changeId }) => !appliedChangeIds.has(changeId));
  // A change with a lower ID may still follow an unstable change.
  const isStable = ({ changeId }: UserChange) => changeId <= through.userChanges;
  const userChangesTo = visible.findLast(isStable)?.changeId ?? cursor.userChanges;
  const applied = [...cursor.appliedChangeIds, ...changes.map(({ changeId }) => changeId)];
  const next: ResultsCursor = {
    ...cursor,
    userChanges: userChangesTo,
    appliedChangeIds: applied.filter((id) => id > userChangesTo),
  };
  if (visible.length === maxChanges) return { cursor, next, goals, changes, bannerEvents: [], events: [] };
  const read = bannerRows!.map(toCountedEvent);
  return {
    cursor,
    next: {
      ...next,
      events:
        eventRows!.length === limits.goalCandidates
          ? readNumber(eventRows!.at(-1)!, 'event_id')
          : Math.max(cursor.events, lastEvent),
      bannerEvents:
        read.length === limits.bannerEvents
          ? readNumber(bannerRows!.at(-1)!, 'banner_event_id')
          : Math.max(cursor.bannerEvents, through.bannerEvents),
    },
    goals,
    changes,
    bannerEvents: read.flatMap(withHoldoutAttribution),
    events: eventRows!.map(toGoalCandidate),
  };
}

const NO_EVENTS: readonly GoalCandidate[] = [];

/** A user's results by campaign. */
interface ResultsByCampaign {
  workspaceId: string;
  campaigns: Map<string, UserResult>;
}

const addResultRows = (users: Map<number, ResultsByCampaign>, rows: readonly SqlRow[]): void => {
  for (const row of rows.map(USER_RESULTS.read)) {
    const {
      userId,
      workspaceId,
      campaignId,
      month,
      counts,
      variantId,
      firstImpressionMs,
      goals,
      prunedGoals,
    } = row;
    const user = users.get(userId) ?? { workspaceId, campaigns: new Map() };
    users.set(userId, user);
    const result = user.campaigns.get(campaignId) ?? createUserResult(campaignId);
    user.campaigns.set(campaignId, result);
    for (const [dimension, each] of Object.entries(counts)) result.counts.set(dimension, each);
    if (month !== ALL_TIME) continue;
    for (const dimension of Object.keys(counts)) {
      const ofDay = getMonth(dimension);
      if (ofDay > result.latestMonth) result.latestMonth = ofDay;
    }
    Object.assign(result, { variantId, firstImpressionMs, goals, prunedGoals });
    Object.assign(result.before, { variantId, goals, latestMonth: result.latestMonth });
  }
};

/** Returns distinct keys, sorted by user, because neighbors share pages. */
const distinctKeys = (events: readonly ResultKey[]): ResultKey[] => {
  const campaignsOfUser = new Map<number, string[]>();
  for (const { userId, campaignId } of events) {
    const campaigns = campaignsOfUser.get(userId);
    if (!campaigns) campaignsOfUser.set(userId, [campaignId]);
    else if (!campaigns.includes(campaignId)) campaigns.push(campaignId);
  }
  return [...campaignsOfUser]
    .sort(([one], [other]) => one - other)
    .flatMap(([userId, campaigns]) => campaigns.map((campaignId) => ({ userId, campaignId })));
};

/** Reads the results that a batch may change. */
function* readAffectedUserResults(
  statements: ResultsStatements,
  { changes, bannerEvents, events }: FeedRows,
): SqlSteps<Map<number, ResultsByCampaign>> {
  const users = new Map<number, ResultsByCampaign>();
  const changed = new Set(changes.flatMap(({ userId, intoUserId }) => [userId, intoUserId ?? userId]));
  const candidateUserIds = new Set(events.map(({ userId }) => userId));
  const keys = distinctKeys(bannerEvents.filter(({ userId }) => !changed.has(userId)));
  const rows = yield [
    ...(changed.size > 0 ? [statements.resultsOfUsers([...changed])] : []),
    ...(candidateUserIds.size > 0
      ? [statements.allTimeRows([...candidateUserIds].filter((userId) => !changed.has(userId)))]
      : []),
    ...(keys.length > 0 ? [statements.allTimeRowsOfKeys(keys)] : []),
  ];
  addResultRows(users, rows.flat());

  // Late events change the days of an earlier month. Dimensions count for the variant of their user, so all days move if the first
  // impression moves to another variant.
  const earlier = distinctKeys(
    bannerEvents.filter(({ userId, campaignId, eventType, variantId, atMs, day }) => {
      const result = users.get(userId)?.campaigns.get(campaignId);
      if (!result || changed.has(userId)) return false;
      const isEarliest =
        eventType === 'impression' && isEarlierImpression({ variantId, firstImpressionMs: atMs }, result);
      const isMoving = isEarliest && (result.firstImpressionMs === null || variantId !== result.variantId);
      return isMoving || toMonth(day) < result.latestMonth;
    }),
  );
  if (earlier.length > 0) addResultRows(users, (yield [statements.monthRows(earlier)])[0]!);
  return users;
}

/**
 * Returns the users whose goals the batch must recount, with the start of the recount. These are merged users and users with an
 * earlier first impression.
 */
const findRecounts = (
  { goals, changes, bannerEvents }: FeedRows,
  users: ReadonlyMap<number, ResultsByCampaign>,
): EventsSince[] => {
  const since = new Map<number, number>();
  if (goals.values.length === 0) return [];
  const recountFrom = (userId: number, ms: number) =>
    since.set(userId, Math.min(since.get(userId) ?? ms, ms));
  for (const { kind, intoUserId } of changes) if (kind === 'merged') recountFrom(intoUserId!, 0);
  for (const { userId, workspaceId, campaignId, eventType, variantId, atMs } of bannerEvents) {
    if (eventType !== 'impression' || goals.ofCampaign(workspaceId, campaignId).length === 0) continue;
    const existing = users.get(userId)?.campaigns.get(campaignId);
    if (!existing || isEarlierImpression({ variantId, firstImpressionMs: atMs }, existing))
      recountFrom(userId, atMs);
  }
  return [...since].map(([userId, sinceMs]) => ({ userId, sinceMs }));
};

/**
 * Runs one batch of the results consumer within one transaction. Reads the next rows of the feed, applies them to the results of
 * their users and to the counts of campaigns, and moves the cursor. If there are no rows, backfills goals instead.
 * `through` is the cursor up to which the feed is stable.
 */
export function* advanceResults(
  statements: ResultsStatements,
  through: FeedCursor,
  limits: BatchLimits = MAX_BATCH,
): SqlSteps<BatchResult> {
  const feedRows = yield* readFeedRows(statements, through, limits);
  const { cursor, next, goals, changes, bannerEvents, events } = feedRows;
  const isUnchanged =
    changes.length === 0 &&
    next.bannerEvents === cursor.bannerEvents &&
    next.events === cursor.events &&
    next.userChanges === cursor.userChanges;
  if (isUnchanged) return { hasMore: yield* backfillGoals(statements, goals.all, limits) };

  const users = yield* readAffectedUserResults(statements, feedRows);
  const recounts = findRecounts(feedRows, users);
  const recountedRows =
    recounts.length === 0
      ? []
      : (yield [
          ...statements.indexUserEvents,
          statements.goalCandidatesOf(recounts, goals.values, cursor.events),
        ]).at(-1)!;
  const recountedEvents = Map.groupBy(recountedRows.map(toGoalCandidate), ({ userId }) => userId);

  const deltas = createCountDeltas();
  const recountedResults = new Set<UserResult>();
  const deletedUserIds = new Set<number>();

  for (const { kind, workspaceId, userId, intoUserId, bannerEvent } of changes) {
    const user = users.get(userId);
    if (kind === 'duplicate') {
      const removed = bannerEvent!;
      // An event after the cursor was never counted, because the merge has removed it.
      if (removed.bannerEventId > cursor.bannerEvents || !user) continue;
      for (const event of withHoldoutAttribution(removed)) {
        const result = user.campaigns.get(event.campaignId);
        if (result) addUserResultEvent(result, event, -1);
      }
      continue;
    }
    deletedUserIds.add(userId);
    users.delete(userId);
    // Results keep the counts of users whom retention removes.
    if (kind === 'expired') {
      for (const result of user?.campaigns.values() ?? []) deltas.change(workspaceId, result);
      continue;
    }
    if (kind === 'erased') {
      for (const result of user?.campaigns.values() ?? [])
        deltas.change(workspaceId, result, { isDeleted: true });
      continue;
    }
    const mergeTarget = users.get(intoUserId!) ?? { workspaceId, campaigns: new Map<string, UserResult>() };
    users.set(intoUserId!, mergeTarget);
    for (const merged of user?.campaigns.values() ?? []) {
      const kept = mergeTarget.campaigns.get(merged.campaignId);
      if (kept) {
        deltas.change(workspaceId, merged, { isDeleted: true });
        mergeResults(kept, merged);
      } else {
        markChanged(merged);
        mergeTarget.campaigns.set(merged.campaignId, merged);
      }
    }
    // Events of the merged user count for every campaign of the kept user, even if the merged user had not seen the campaign.
    for (const result of mergeTarget.campaigns.values()) recountedResults.add(result);
  }

  for (const event of bannerEvents) {
    const { userId, workspaceId, campaignId, eventType, variantId, atMs } = event;
    const user = users.get(userId) ?? { workspaceId, campaigns: new Map<string, UserResult>() };
    users.set(userId, user);
    const result = user.campaigns.get(campaignId) ?? createUserResult(campaignId);
    user.campaigns.set(campaignId, result);
    const isEarliest =
      eventType === 'impression' && updateFirstImpression(result, { variantId, firstImpressionMs: atMs });
    if (isEarliest) recountedResults.add(result);
    addUserResultEvent(result, event, 1);
  }

  const newEvents = Map.groupBy(events, ({ userId }) => userId);
  for (const [userId, { workspaceId, campaigns }] of users) {
    const eventsOfUser = newEvents.get(userId) ?? NO_EVENTS;
    for (const result of campaigns.values()) {
      const isRecounted = recountedResults.has(result);
      if (!isRecounted && eventsOfUser.length === 0) continue;
      const campaignGoals = goals.ofCampaign(workspaceId, result.campaignId);
      const { firstImpressionMs: firstMs, prunedGoals } = result;
      const before = isRecounted
        ? addConversions(prunedGoals, campaignGoals, firstMs, recountedEvents.get(userId) ?? NO_EVENTS)
        : result.goals;
      result.goals = addConversions(before, campaignGoals, firstMs, eventsOfUser);
    }
  }

  const counted =
    next.events === cursor.events ? [] : (yield [statements.countEvents(cursor.events, next.events)])[0]!;
  yield [
    ...writeResults(statements, users, deltas, [...deletedUserIds]),
    statements.addEventCounts(counted),
    statements.writeCursor(next),
  ];
  return { hasMore: true };
}

const writeResults = (
  statements: ResultsStatements,
  users: ReadonlyMap<number, ResultsByCampaign>,
  deltas: ReturnType<typeof createCountDeltas>,
  deletedUserIds: readonly number[],
): BulkStatement[] => {
  const rows: UserResultRow[] = [];
  // Sorted, because neighbors share pages.
  for (const [userId, { workspaceId, campaigns }] of [...users].sort(([one], [other]) => one - other)) {
    for (const result of campaigns.values()) {
      if (!isChanged(result)) continue;
      deltas.change(workspaceId, result);
      const { campaignId, variantId, firstImpressionMs, goals, prunedGoals } = result;
      const key = { userId, campaignId, workspaceId };
      for (const [month, counts] of changedRows(result)) {
        const totals =
          month === ALL_TIME
            ? { variantId, firstImpressionMs, goals, prunedGoals }
            : { variantId: null, firstImpressionMs: null, goals: {}, prunedGoals: {} };
        rows.push({ ...key, month, counts, ...totals });
      }
    }
  }
  return [
    ...(deletedUserIds.length > 0 ? [statements.deleteUserResults(deletedUserIds)] : []),
    statements.writeUserResults(rows),
    statements.addCampaignCounts(deltas.campaigns()),
    statements.addGoalCounts(deltas.goals()),
  ];
};

/**
 * Counts events that were stored before a goal was added, starting with the oldest. Goals with the same progress share the batch.
 * Returns whether there are more events.
 */
function* backfillGoals(
  statements: ResultsStatements,
  goals: readonly CampaignGoal[],
  limits: BatchLimits,
): SqlSteps<boolean> {
  const unfinished = goals.filter((goal) => !isBackfilled(goal));
  if (unfinished.length === 0) return false;
  const from = Math.min(...unfinished.map(({ backfilledThrough }) => backfilledThrough));
  const scannedThrough = Math.min(
    from + limits.scannedEvents,
    ...unfinished.flatMap(({ addedAfter, backfilledThrough }) =>
      backfilledThrough > from ? [backfilledThrough] : [addedAfter],
    ),
  );
  const backfilled = unfinished.filter(({ backfilledThrough }) => backfilledThrough === from);
  const { values } = createGoalIndex(backfilled);
  const limit = limits.goalCandidates;
  const events = (yield [statements.goalCandidates(from, scannedThrough, values, limit)])[0]!.map(
    toGoalCandidate,
  );
  const through = events.length === limit ? events.at(-1)!.eventId : scannedThrough;
  const index = createGoalIndex(backfilled.map((goal) => ({ ...goal, backfilledThrough: through })));
  const eventsOfUser = Map.groupBy(events, ({ userId }) => userId);
  const users = new Map<number, ResultsByCampaign>();
  if (events.length > 0) addResultRows(users, (yield [statements.allTimeRows([...eventsOfUser.keys()])])[0]!);
  for (const [userId, { workspaceId, campaigns }] of users) {
    for (const result of campaigns.values()) {
      const ofCampaign = index.ofCampaign(workspaceId, result.campaignId);
      result.goals = addConversions(
        result.goals,
        ofCampaign,
        result.firstImpressionMs,
        eventsOfUser.get(userId) ?? [],
      );
    }
  }
  yield [
    ...writeResults(statements, users, createCountDeltas(), []),
    statements.setBackfilled(from, through),
  ];
  return true;
}

/** Goals of a campaign, formatted by `formatGoal`. */
export interface GoalsToAdd {
  workspaceId: string;
  campaignId: string;
  timeZone: string;
  goals: readonly string[];
}

/** Adds goals, or changes the time zone of existing ones, which affects later conversions. */
export function* addGoals(
  statements: ResultsStatements,
  { workspaceId, campaignId, timeZone, goals }: GoalsToAdd,
): SqlSteps<void> {
  const addedAfter = toCursor((yield [statements.cursor()])[0]![0]).events;
  const added = { workspaceId, campaignId, timeZone, addedAfter, backfilledThrough: 0 };
  yield [statements.addGoals(goals.map((goal) => ({ ...added, goal })))];
}
