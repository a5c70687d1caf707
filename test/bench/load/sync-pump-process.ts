// Sends syncs of many users, in a process of its own: port, users, connections, seconds; answers what it measured.
import { pump } from './pump.ts';
import { syncRequest } from './sync-workspace.ts';

const [port = 0, users = 1, connections = 1, seconds = 1] = process.argv.slice(2).map(Number);
const requests = Array.from({ length: users }, (_, user) => syncRequest(user));
process.send?.(
  await pump({
    port,
    connections,
    seconds,
    warmUpSeconds: seconds / 2,
    next: () => requests[Math.floor(Math.random() * users)]!,
  }),
);
process.exit(0);
