import type { Pool } from 'pg';
import { POSTGRES_RESULTS } from '../../results/statements.ts';
import { POSTGRES } from '../../sql/dialect.ts';
import { POSTGRES_STATEMENTS } from '../statements.ts';
import { createStoreParts } from '../store-parts.ts';
import { createPostgresResults, createReadStableFeed } from './results.ts';
import { createPoolRun, createRunTogether, createSend } from './statement.ts';

interface PostgresPartsOptions {
  pool: Pool;
  /** Pool for batches of the results. */
  resultsPool: Pool;
  isSharded: boolean;
}

/** Creates the shared parts of the store on PostgreSQL. */
export const createPostgresParts = ({ pool, resultsPool, isSharded }: PostgresPartsOptions) => {
  const run = createPoolRun(pool);
  const readStableFeed = createReadStableFeed(run);
  const { addGoals, resultsConsumer, pruneEvents } = createPostgresResults(
    resultsPool,
    isSharded,
    readStableFeed,
  );
  const parts = createStoreParts({
    dialect: POSTGRES,
    statements: POSTGRES_STATEMENTS,
    results: POSTGRES_RESULTS,
    run,
    runTogether: createRunTogether(pool),
    runRead: run,
    send: createSend(run),
    indexUserEvents: async () => undefined,
    readStableFeed,
    catchUp: resultsConsumer.catchUp,
    pruneEvents,
  });
  return { addGoals, resultsConsumer, parts };
};
