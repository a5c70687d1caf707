import type { DatabaseSync } from 'node:sqlite';
import { createResultsConsumer } from '../../results/consumer.ts';
import { readLastIds, readUncountedMs, SQLITE_RESULTS } from '../../results/statements.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { SQLITE_STATEMENTS } from '../statements.ts';
import { createStoreParts } from '../store-parts.ts';
import { createRunSqlite, createSendSqlite } from './open.ts';
import type { RemoteWriter } from './writer.ts';

/** Creates the shared parts of the embedded store. `database` only reads. */
export const createSqliteParts = (database: DatabaseSync, writer: RemoteWriter) => {
  const send = createSendSqlite(database);
  // Only one connection writes, so all visible rows are stable.
  const readStableFeed = async () => ({
    through: await readLastIds(SQLITE_RESULTS, send),
    isCurrent: true,
  });
  const resultsConsumer = createResultsConsumer({
    readStableFeed,
    readUncountedMs: () => readUncountedMs(SQLITE_RESULTS, send),
    advance: writer.advanceResults,
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
