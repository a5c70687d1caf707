import type { SqlSteps } from '../sql/steps.ts';
import { USER_CHANGES } from '../sql/user-tables.ts';
import { addConversions, createGoalIndex, isBackfilled, toGoal, toGoalCandidate } from './goals.ts';
import { type EventRange, type ResultsStatements, toCursor } from './statements.ts';
import { USER_RESULTS, type UserResultRow } from './tables.ts';

/** Result of a batch of retention. */
export interface PrunedEvents {
  rows: number;
  /** Position up to which the batch has deleted. */
  through: number;
}

/**
 * Deletes old events of a workspace within a range that the results have read. Keeps their conversions in the results of the
 * users. Deletes nothing until the results have applied all changes of users, because a row has its current user.
 */
export function* pruneEvents(statements: ResultsStatements, range: EventRange): SqlSteps<PrunedEvents> {
  const { workspaceId, after } = range;
  const [cursorRows, goalRows] = yield [statements.cursor(), statements.goals()];
  const cursor = toCursor(cursorRows![0]);
  const all = goalRows!.map(toGoal).filter((goal) => goal.workspaceId === workspaceId);
  const backfilled = all.filter((goal) => !isBackfilled(goal)).map((goal) => goal.backfilledThrough);
  const through = Math.min(range.through, cursor.events, ...backfilled);
  const appliedChangeIds = new Set(cursor.appliedChangeIds);
  const changes = (yield [
    statements.userChanges(cursor.userChanges, cursor.appliedChangeIds.length + 1),
  ])[0]!.map(USER_CHANGES.read);
  if (through <= after || changes.some(({ changeId }) => !appliedChangeIds.has(changeId)))
    return { rows: 0, through: after };

  const deleted = (yield [statements.deleteEvents({ ...range, through })])[0]!;
  const goals = createGoalIndex(all);
  const names = new Set(all.map(({ name }) => name));
  const conversions = deleted.map(toGoalCandidate).filter(({ name }) => names.has(name));
  if (conversions.length === 0) return { rows: deleted.length, through };

  const ofUser = Map.groupBy(conversions, ({ userId }) => userId);
  const rows = (yield [statements.allTimeRows([...ofUser.keys()])])[0]!.map(USER_RESULTS.read);
  const changed = rows.flatMap((row): UserResultRow[] => {
    const { userId, campaignId, firstImpressionMs, prunedGoals: before } = row;
    const ofCampaign = goals.ofCampaign(workspaceId, campaignId);
    const prunedGoals = addConversions(before, ofCampaign, firstImpressionMs, ofUser.get(userId)!);
    return prunedGoals === before ? [] : [{ ...row, prunedGoals }];
  });
  yield [statements.writeUserResults(changed)];
  return { rows: deleted.length, through };
}
