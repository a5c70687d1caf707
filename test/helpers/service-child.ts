// A service in a child process, for tests that kill it. Arguments: database, workspace as JSON.
import { createService, listen, openStore } from '../../src/service/index.ts';

const [database = ':memory:', workspace = '{}'] = process.argv.slice(2);
const store = await openStore(database);
const listening = await listen(createService({ workspaces: [JSON.parse(workspace)], store }), { port: 0 });
process.on('SIGTERM', () => {
  void listening.stop().then(() => process.exit(0));
});
process.stdout.write(`${listening.port}\n`);
