// Sends syncs of many users from a child process. Arguments: port, users, connections, seconds, tokens per user, syncs per
// second (0: unlimited), release. Without tokens in random order; with tokens in sequence, so that each token recurs as late as possible.
import { pump } from './pump.ts';
import { signedSyncRequest, syncRequest } from './sync-workspace.ts';

const [port = 0, users = 1, connections = 1, seconds = 1, tokens = 0, rate = 0] = process.argv
  .slice(2)
  .map(Number);
const release = process.argv[8];
const requests = Array.from({ length: users * Math.max(1, tokens) }, (_, index) =>
  tokens === 0 ? syncRequest(index, release) : signedSyncRequest(index % users, Math.floor(index / users)),
);
let turn = 0;
process.send?.(
  await pump({
    port,
    connections,
    seconds,
    warmUpSeconds: seconds / 2,
    ...(rate > 0 && { rate }),
    next: () => {
      turn += 1;
      const at = tokens > 0 ? turn % requests.length : Math.floor(Math.random() * requests.length);
      return requests[at]!;
    },
  }),
);
process.exit(0);
