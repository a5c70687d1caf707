// A replica that ingests in a loop until it is killed.
import { setTimeout as wait } from 'node:timers/promises';
import { startIngestion } from '../../src/ingestion/index.ts';
import { openStore, silentLog } from '../../src/service/index.ts';
import { loadWorkspaces } from '../../src/service/workspace/load-workspaces.ts';

const [, , database = '', file = ''] = process.argv;
const { workspaces } = loadWorkspaces(file);
const store = await openStore(database);
startIngestion({ store, workspaces: () => workspaces, log: silentLog, pollMs: 10, leaseMs: 400 });
process.stdout.write('ready\n');
for (;;) {
  for (const { workspaceId, integrations } of workspaces) {
    for (const { record } of integrations ?? []) {
      await store.ingestion.request(workspaceId, record.integration_id, Date.now()).catch(() => undefined);
    }
  }
  await wait(20);
}
