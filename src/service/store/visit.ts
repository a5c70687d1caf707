import { createIngestionStore, type IngestionStore } from '../integrations/ingestion-store.ts';
import { createStudioStore, type RunSql, type StudioStore } from '../operators/index.ts';
import { isPostgres, pathOf } from './address.ts';
import { connectBeside } from './postgres/connect-beside.ts';
import { runIn } from './postgres/statement.ts';
import { PRUNE_MOMENT } from './postgres/user-statements.ts';
import { createPrune } from './prune.ts';
import { openBeside } from './sqlite/open-beside.ts';
import { createRunSqlite } from './sqlite/run.ts';
import type { Store } from './store.ts';
import { createWorkspaceReads } from './workspace-reads.ts';

/** A database that a service may be using at this moment. */
export interface VisitedStore {
  studio: StudioStore;
  ingestion: IngestionStore;
  workspaceIds: Store['workspaceIds'];
  prune: Store['prune'];
  close(): Promise<void>;
}

const visitAs = (run: RunSql, moment: string, close: () => Promise<void>): VisitedStore => ({
  studio: createStudioStore(run),
  ingestion: createIngestionStore(run),
  workspaceIds: createWorkspaceReads(run).workspaceIds,
  prune: createPrune(run, moment),
  close,
});

/** Opens what may be changed beside a service. */
export const visitStore = async (address: string): Promise<VisitedStore> => {
  if (isPostgres(address)) {
    const { pool, close } = await connectBeside(address);
    return visitAs(runIn(pool), PRUNE_MOMENT, close);
  }
  const database = openBeside(pathOf(address));
  return visitAs(createRunSqlite(database), '$2', async () => database.close());
};
