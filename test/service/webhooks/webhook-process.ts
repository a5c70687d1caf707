// Delivers webhooks in a separate process that tests can kill. Arguments: the database, the workspace as JSON.
import { openStore, silentLog, startWebhooks } from '../../../src/service/index.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';

const [database = '', workspace = '{}'] = process.argv.slice(2);
const store = await openStore(database);
const parsed = parseWorkspace(JSON.parse(workspace));
startWebhooks({
  store,
  workspaces: () => [parsed],
  readSecret: () => undefined,
  privateHosts: new Set(['127.0.0.1']),
  log: silentLog,
  onAttempt: () => undefined,
  pollMs: 10,
  // Shorter than the receiver's delay.
  timeoutMs: 300,
  leaseMs: 500,
  retryDelay: () => 20,
});
process.stdout.write('started\n');
