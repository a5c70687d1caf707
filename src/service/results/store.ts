import type { RunSql } from '../row-readers.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Store } from '../store/store.ts';
import { readButtonDays } from './button-results.ts';
import type { Progress } from './consumer.ts';
import { readEventCounts, readEventNames } from './event-counts.ts';
import { formatGoal } from './goals.ts';
import { readResults, readSummaries } from './read.ts';
import type { ResultsDifference } from './verify.ts';

interface ResultsOptions {
  run: RunSql;
  dialect: Dialect;
  /** Stores new goals. Returns whether any goal was new. */
  addGoals(workspaceId: string, campaignId: string, goals: readonly string[]): Promise<boolean>;
  catchUp(): Promise<Progress>;
  verify(workspaceId: string): Promise<ResultsDifference[]>;
}

/** Creates the reads of results for both databases. A read catches up with the feed first. */
export const createResults = ({
  run,
  dialect,
  addGoals,
  catchUp,
  verify,
}: ResultsOptions): Pick<
  Store,
  | 'campaignResults'
  | 'campaignButtonDays'
  | 'campaignSummaries'
  | 'eventCounts'
  | 'eventNames'
  | 'addGoals'
  | 'catchUpResults'
  | 'verifyResults'
> => {
  /** Goals that this process has added. They need no lookup, because goals are never removed. */
  const added = new Set<string>();
  const add: Store['addGoals'] = async (workspaceId, { campaignId, conversions }) => {
    const goals = conversions.map(formatGoal);
    const toGoalKey = (goal: string) => JSON.stringify([workspaceId, campaignId, goal]);
    if (goals.every((goal) => added.has(toGoalKey(goal)))) return;
    await addGoals(workspaceId, campaignId, goals);
    for (const goal of goals) added.add(toGoalKey(goal));
  };
  return {
    addGoals: add,
    catchUpResults: catchUp,

    async campaignResults(workspaceId, query) {
      await add(workspaceId, query);
      const { asOfMs } = await catchUp();
      return { ...(await readResults(run, workspaceId, query)), asOfMs };
    },

    campaignButtonDays: (workspaceId, query) => readButtonDays(run, workspaceId, query),

    async campaignSummaries(workspaceId, days) {
      await catchUp();
      return readSummaries(run, workspaceId, days);
    },

    async eventCounts(workspaceId, query) {
      await catchUp();
      return readEventCounts(run, dialect, workspaceId, query);
    },

    async eventNames(workspaceId, query) {
      await catchUp();
      return readEventNames(run, workspaceId, query);
    },

    async verifyResults(workspaceId) {
      await catchUp();
      return verify(workspaceId);
    },
  };
};
