// The service with a hundred campaigns and scheduled integrations; sends its port to the parent. Arguments: database, workspace file.
import { startIngestion } from '../../../src/ingestion/index.ts';
import { createService, listen, openStore, silentLog, tuneProcess } from '../../../src/service/index.ts';
import { loadWorkspaces } from '../../../src/service/workspace/load-workspaces.ts';

tuneProcess();
const [database = '', file = ''] = process.argv.slice(2);
const registry = loadWorkspaces(file);
const store = await openStore(database);
const service = createService({ workspaces: { registry: () => registry, stop: () => undefined }, store });
const stop = startIngestion({ store, workspaces: () => registry.workspaces, log: silentLog });
const listening = await listen(service, { port: 0 });
process.on('SIGTERM', () => {
  void stop()
    .then(() => listening.stop())
    .then(() => process.exit(0));
});
process.send?.({ port: listening.port });

// Exits with the bench.
process.once('disconnect', () => process.exit());
