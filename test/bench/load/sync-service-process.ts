// The service with a hundred campaigns, over a database that is there; tells its parent the port.
import { createService, listen, openStore, tuneProcess } from '../../../src/service/index.ts';
import { SYNC_WORKSPACE } from './sync-workspace.ts';

tuneProcess();
const store = await openStore(process.argv[2]!);
const listening = await listen(createService({ workspaces: [SYNC_WORKSPACE], store }), { port: 0 });
process.on('SIGTERM', () => {
  void listening.stop().then(() => process.exit(0));
});
process.send?.({ port: listening.port });
