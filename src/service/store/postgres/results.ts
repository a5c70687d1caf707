import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import { mapKeys } from '../../../protocol/index.ts';
import { addGoals, advanceResults, type GoalsToAdd } from '../../results/advance.ts';
import { createBatchSizer } from '../../results/batch-size.ts';
import { createResultsConsumer, type StableFeed } from '../../results/consumer.ts';
import { type PrunedEvents, pruneEvents } from '../../results/prune-events.ts';
import { type EventRange, POSTGRES_RESULTS, readLastIds, readUncountedMs } from '../../results/statements.ts';
import { LOCKS } from '../../sql/advisory-locks.ts';
import { FEED_NAMES, FEED_START } from '../../sql/feed.ts';
import { readText } from '../../sql/row-readers.ts';
import { runStepsAsync, type SqlSteps } from '../../sql/steps.ts';
import { createPoolRun, createSend, inTransaction, type Run, retryConflicts } from './statement.ts';

/** Selects the groups in flight. On a cluster, the lock is held until all nodes have committed. */
const GROUPS_IN_FLIGHT = `SELECT DISTINCT virtualtransaction FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 0 AND objid = ${LOCKS.groups} AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const RETRY_MS = 5;
/** Maximum time that a reader of the feed waits for groups in flight, in milliseconds. */
const WAIT_MS = 1_000;

/**
 * Returns a function that returns the cursor up to which the feed is stable, or the previous one if a group in flight does not
 * end. A group takes its lock before its rows get their IDs. After every group in flight at the time of reading the last IDs has
 * ended, no row with a lower ID can appear. Transaction IDs would depend on all programs on the server, and do not survive a
 * restore from a dump.
 */
export const createReadStableFeed = (run: Run): (() => Promise<StableFeed>) => {
  let stable = FEED_START;
  const inFlight = async () =>
    (await run(GROUPS_IN_FLIGHT, [])).map((row) => readText(row, 'virtualtransaction'));

  return async () => {
    const through = await readLastIds(POSTGRES_RESULTS, createSend(run));
    let before = await inFlight();
    const until = performance.now() + WAIT_MS;
    while (before.length > 0) {
      if (performance.now() > until) return { through: stable, isCurrent: false };
      await pause(RETRY_MS);
      const still = new Set(await inFlight());
      before = before.filter((each) => still.has(each));
    }
    // A concurrent call may have found a later cursor.
    stable = mapKeys(FEED_NAMES, (name) => Math.max(stable[name], through[name]));
    return { through: stable, isCurrent: true };
  };
};

/**
 * Lets only one replica advance results at a time. The lock precedes the snapshot, so that the snapshot includes the cursor of
 * the previous batch.
 */
const LOCK = 'LOCK TABLE feed_cursors IN EXCLUSIVE MODE';
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ; ${LOCK}`;
/** Blocks groups during a batch, but not while it waits for another, because a cluster has no snapshot across nodes. */
const BEGIN_ON_CLUSTER = `BEGIN; ${LOCK}; SELECT pg_advisory_xact_lock(${LOCKS.groups})`;

/** Does not use a snapshot, because a merge that has ended in the meantime must be visible. */
const BEGIN_PRUNING = `BEGIN; ${LOCK}; SELECT pg_advisory_xact_lock(${LOCKS.merges})`;

export const createPostgresResults = (
  pool: Pool,
  isSharded: boolean,
  readStableFeed: () => Promise<StableFeed>,
) => {
  const transact = <T>(steps: () => SqlSteps<T>, begin = isSharded ? BEGIN_ON_CLUSTER : BEGIN): Promise<T> =>
    retryConflicts(() => inTransaction(pool, (run) => runStepsAsync(steps(), createSend(run)), begin));
  const batchSizer = createBatchSizer();
  return {
    addGoals: (added: GoalsToAdd): Promise<void> => transact(() => addGoals(POSTGRES_RESULTS, added)),
    pruneEvents: (range: EventRange): Promise<PrunedEvents> =>
      transact(() => pruneEvents(POSTGRES_RESULTS, range), BEGIN_PRUNING),
    resultsConsumer: createResultsConsumer({
      readStableFeed,
      readUncountedMs: () => readUncountedMs(POSTGRES_RESULTS, createSend(createPoolRun(pool))),
      async advance(through) {
        const started = performance.now();
        const result = await transact(() => advanceResults(POSTGRES_RESULTS, through, batchSizer.limits()));
        if (isSharded) batchSizer.report(performance.now() - started);
        return result;
      },
    }),
  };
};
