import { numberIn, type SqlRow, textsIn } from '../operators/index.ts';
import { createCounts } from './campaign-state.ts';
import { type Batch, query, type Send } from './dialect.ts';
import { deedIn, goalsOf, READ_CAMPAIGN_GOALS, reachedByGone, reachedWith } from './goals.ts';
import { writeCounts } from './keep-counts.ts';
import { stateOf } from './rows.ts';
import type { Statements } from './statements.ts';

/** In both databases. */
const SET_GOALS = `INSERT INTO campaign_goals (workspace_id, campaign_id, goals, version, counted_to)
  VALUES ($1, $2, $3, (SELECT coalesce(max(version), 0) + 1 FROM campaign_goals), 0)
  ON CONFLICT (workspace_id, campaign_id)
  DO UPDATE SET goals = excluded.goals, version = excluded.version, counted_to = 0`;
const SET_COUNTED = 'UPDATE campaign_goals SET counted_to = $3 WHERE workspace_id = $1 AND campaign_id = $2';

/** Users whom one step counts at most. */
export const STATES_A_STEP = 250;
/** What they have done since their first impression: a step reads it while nothing else is written. */
export const EVENTS_A_STEP = 20_000;
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
  statements: Statements,
  { workspaceId, campaignId }: GoalStep,
): FoundGoals<Rows> => ({
  goals: send(query(READ_CAMPAIGN_GOALS, workspaceId, campaignId)),
  states: send(statements.statesToCount(workspaceId, campaignId, STATES_A_STEP, EVENTS_A_STEP)),
});

/** What the users of a step did since their first impression. */
export const deedsOf = (statements: Statements, { goals, states }: FoundGoals<SqlRow[]>): Batch => {
  const names = [...new Set(goals.flatMap(goalsOf).map(({ value }) => value))];
  return statements.deedsSince(
    states
      .map(stateOf)
      .flatMap(({ userId, state: { firstImpressionMs: sinceMs } }) =>
        sinceMs === null ? [] : [{ userId, sinceMs, names }],
      ),
  );
};

/**
 * Counts the goals of some users of a campaign from the beginning, while nothing else is written. Users may reach goals between two
 * steps: a step reads all events of its users, so that nothing counts twice. A goal that the campaign had before keeps its counts where
 * retention has deleted their events. Goals are added and none is removed: a replica with an older file asks only for the goals of
 * that file, and must not remove those that another replica counts.
 */
export const countGoals = (
  statements: Statements,
  { workspaceId, campaignId, goals: asked }: GoalStep,
  found: FoundGoals<SqlRow[]>,
  deeds: readonly SqlRow[],
): { writes: Batch[]; hasMore: boolean } => {
  const [row] = found.goals;
  const known = row ? textsIn(row, 'goals') : [];
  const all = [...new Set([...known, ...asked])];
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
    const { firstImpressionMs: firstMs } = state;
    const done = (byUser.get(userId) ?? []).map(deedIn);
    const reached = reachedWith(reachedByGone(state.goals, goals, firstMs, done), goals, firstMs, done);
    if (JSON.stringify(reached) === JSON.stringify(state.goals)) return false;
    counts.takeAway(each);
    state.goals = reached;
    counts.add(each);
    return true;
  });
  const last = states.at(-1)?.userId ?? null;
  return {
    writes: [...writeCounts(statements, changed, counts), query(SET_COUNTED, workspaceId, campaignId, last)],
    hasMore: last !== null,
  };
};
