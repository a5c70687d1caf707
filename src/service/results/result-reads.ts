import type { Dialect } from '../sql/dialect.ts';
import type { RunSql } from '../sql/row-readers.ts';
import type { Store } from '../store/store.ts';
import type { GoalsToAdd } from './advance.ts';
import { readButtonDays } from './button-results.ts';
import type { Progress } from './consumer.ts';
import { readEventCounts, readEventNames } from './event-counts.ts';
import { formatGoal } from './goals.ts';
import { readCampaignResults, readSummaries } from './read.ts';
import type { ResultsDifference } from './verify.ts';

interface ResultsOptions {
  run: RunSql;
  dialect: Dialect;
  addGoals(added: GoalsToAdd): Promise<void>;
  catchUp(): Promise<Progress>;
  verify(workspaceId: string): Promise<ResultsDifference[]>;
}

/**
 * Creates the reads of results for both databases. A read catches up with the feed first, except `campaignButtonDays`.
 * `campaignResults` also adds the goals of its query.
 */
export const createResultReads = ({
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
  /** Time zone of each goal that this process has added. They need no lookup, because goals are never removed. */
  const added = new Map<string, string>();
  const add: Store['addGoals'] = async (workspaceId, { campaignId, goals: requested, timeZone }) => {
    const toGoalKey = (goal: string) => JSON.stringify([workspaceId, campaignId, goal]);
    const goals = requested.map(formatGoal).filter((goal) => added.get(toGoalKey(goal)) !== timeZone);
    if (goals.length === 0) return;
    await addGoals({ workspaceId, campaignId, timeZone, goals });
    for (const goal of goals) added.set(toGoalKey(goal), timeZone);
  };
  return {
    addGoals: add,
    catchUpResults: catchUp,

    async campaignResults(workspaceId, query) {
      await add(workspaceId, query);
      const progress = await catchUp();
      return { ...(await readCampaignResults(run, workspaceId, query)), ...progress };
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
