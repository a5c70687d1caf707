import { MAX_TRACK_OBJECTS } from '../protocol/index.ts';
import { refusalOf, replyOf } from './http/exchange.ts';
import { silentLog } from './log.ts';
import type { Store } from './store/store.ts';
import { trackUsers } from './users/track.ts';
import { parseWorkspace } from './workspace/parse-workspace.ts';
import type { Workspace } from './workspace/workspace.ts';

/** Apps and subscription groups are known to the workspace alone: here every ID is one. */
const ANY_ID = { has: () => true, get: () => ({ name: '', channel: 'sms' }) };

const workspace: Workspace = {
  ...parseWorkspace({ workspace_id: 'dry-run', apps: [], api_keys: [] }),
  appIds: ANY_ID as unknown as Workspace['appIds'],
  subscriptionGroups: ANY_ID as unknown as Workspace['subscriptionGroups'],
};

const NOTHING_STORED = { write: async () => [] as never } satisfies Pick<Store, 'write'>;

/** Judges a request of `/users/track` by the service's own rules, and stores nothing. In place of a client's `fetch`. */
export const judgeTrack: typeof fetch = async (input, init) => {
  const { status, headers, body } = await trackUsers({
    workspace,
    store: NOTHING_STORED,
    body: await new Request(input, init).json(),
    nowMs: Date.now(),
    limit: { max: MAX_TRACK_OBJECTS, counting: 'combined' },
  }).then(
    (answer) => replyOf({ status: 201, body: answer }),
    (error: unknown) => refusalOf(error, 'general', silentLog, {}),
  );
  return new Response(body, { status, headers });
};
