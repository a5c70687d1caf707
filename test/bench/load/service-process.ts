// The service as `placard serve` runs it, in a process of its own; tells its parent the port.
import { createService, listen, openStore, tuneProcess } from '../../../src/service/index.ts';
import { BENCH_WORKSPACE } from './workspace.ts';

tuneProcess();
const store = await openStore(process.argv[2]!);
const listening = await listen(createService({ workspaces: [BENCH_WORKSPACE], store }), { port: 0 });
process.on('SIGTERM', () => {
  void listening.stop().then(() => process.exit(0));
});
process.on('message', (message) => {
  if (message === 'memory') process.send?.({ rss: process.memoryUsage().rss });
});
process.send?.({ port: listening.port });

// Nobody is left to stop it where the bench itself has ended.
process.once('disconnect', () => process.exit());
