// The service with a hundred campaigns on an existing database; sends its port to the parent, and on `results` the
// seconds that reading the results of a campaign took.
import { createService, listen, openStore, tuneProcess } from '../../../src/service/index.ts';
import { GOALS } from './fill-results.ts';
import { SYNC_WORKSPACE } from './sync-workspace.ts';

tuneProcess();
const store = await openStore(process.argv[2]!);
const listening = await listen(createService({ workspaces: [SYNC_WORKSPACE], store }), { port: 0 });
process.on('SIGTERM', () => {
  void listening.stop().then(() => process.exit(0));
});
process.on('message', async () => {
  const started = performance.now();
  const question = { campaignId: 'campaign-99', goals: GOALS, timeZone: 'UTC' };
  const { arms } = await store.campaignResults('bench', question);
  const exposed = arms.reduce((sum, arm) => sum + arm.exposed, 0);
  process.send?.({ seconds: (performance.now() - started) / 1000, exposed });
});
process.send?.({ port: listening.port });

// Exits with the bench.
process.once('disconnect', () => process.exit());
