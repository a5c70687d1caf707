import type { DatabaseSync } from 'node:sqlite';
import { createResultsConsumer } from '../../results/consumer.ts';
import { readLastIds, readUncountedMs, SQLITE_RESULTS } from '../../results/statements.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import { createStoreParts } from '../store-parts.ts';
import { createRunSqlite, createSendSqlite } from './open.ts';
import type { RemoteWriter } from './writer.ts';

/** Number of batches of results after which the log is checkpointed. A batch writes up to a page for each event. */
export const BATCHES_PER_CHECKPOINT = 20;

/** Creates the shared parts of the embedded store. `database` only reads. A database in memory has no log to checkpoint. */
export const createSqliteParts = (
  database: DatabaseSync,
  writer: RemoteWriter,
  checkpoint: () => Promise<void> = async () => undefined,
) => {
  const send = createSendSqlite(database);
  // Only one connection writes, so all visible rows are stable.
  const readStableFeed = async () => ({
    through: await readLastIds(SQLITE_RESULTS, send),
    isCurrent: true,
  });
  let batches = 0;
  const resultsConsumer = createResultsConsumer({
    readStableFeed,
    readUncountedMs: () => readUncountedMs(SQLITE_RESULTS, send),
    async advance(through) {
      batches += 1;
      if (batches % BATCHES_PER_CHECKPOINT === 0) await checkpoint();
      return writer.advanceResults(through);
    },
  });
  const parts = createStoreParts({
    dialect: SQLITE,
    statements: SQLITE_STATEMENTS,
    results: SQLITE_RESULTS,
    run: writer.run,
    runTogether: writer.runTogether,
    runRead: createRunSqlite(database),
    send,
    indexUserEvents: writer.indexUserEvents,
    readStableFeed,
    catchUp: resultsConsumer.catchUp,
    pruneEvents: writer.pruneEvents,
  });
  return { resultsConsumer, parts };
};
