// `placard serve` in a child process; sends its port to the parent.
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

// Exits with the bench.
process.once('disconnect', () => process.exit());
