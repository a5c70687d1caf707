import type { Lookup } from '../profiles/lookup.ts';
import type { UserRow } from '../profiles/user-repository.ts';
import { readMs } from '../sql/columns.ts';
import type { BulkStatement, Send } from '../sql/dialect.ts';
import { readNumber, readText, type SqlRow } from '../sql/row-readers.ts';
import { USER_CAMPAIGNS } from '../sql/user-tables.ts';
import type { Statements } from './statements.ts';
import type { Impression, LoadedUser, Store } from './store.ts';
import { createTimeoutQueue } from './timeout-queue.ts';
import { ConflictError, TransientError } from './write-errors.ts';

const MAX_CONCURRENT_READS = 2;
/** Limited, because the profiles of a read are parsed synchronously. */
const MAX_REQUESTS_PER_READ = 32;

interface TargetingRequest {
  workspaceId: string;
  externalId: string;
  /** Start of the requested impressions, in Unix milliseconds; `null` to read none. */
  sinceMs: number | null;
}

interface TargetingLoaderOptions {
  /** Returns the users who exist. */
  readUsers(pending: { workspaceId: string; lookups: Lookup[] }[]): Promise<UserRow[]> | UserRow[];
  send: Send<Promise<SqlRow[]> | SqlRow[]>;
  statements: Pick<Statements, 'findUserCampaigns' | 'impressionsSince'>;
}

const toImpression = (row: SqlRow): Impression => ({
  campaignId: readText(row, 'campaign_id'),
  timeMs: readMs(row, 'occurred_at'),
});

const userKey = (user: { workspaceId: string; externalId: string | null }) =>
  JSON.stringify([user.workspaceId, user.externalId]);

/**
 * Creates a loader of targeting data in batches of up to 32 users. Requests of one tick share a read, because a statement costs
 * PostgreSQL more than an additional row, and a read transaction costs SQLite four times as much as finding a user. After a
 * conflict on PostgreSQL, reads each request separately. Any other error rejects all requests of the read. A request expires
 * after ten seconds in the queue.
 */
export const createTargetingLoader = ({
  readUsers,
  send,
  statements,
}: TargetingLoaderOptions): Store['loadTargetingData'] => {
  type Pending = PromiseWithResolvers<LoadedUser> & { request: TargetingRequest };
  const queue = createTimeoutQueue<Pending>({
    expire: ({ reject }) => reject(new TransientError('The read timed out in the queue')),
  });
  let reads = 0;
  let isScheduled = false;

  const addImpressions = async (user: LoadedUser, statement: BulkStatement): Promise<LoadedUser> => ({
    ...user,
    impressions: (await send(statement)).map(toImpression),
  });

  /** Reads impressions only if the user has seen a campaign since `sinceMs`. */
  const toTargetingData = (
    { sinceMs }: TargetingRequest,
    user: UserRow | undefined,
    userCampaigns: readonly SqlRow[] = [],
  ): LoadedUser | Promise<LoadedUser> => {
    if (!user) return { exists: false, profile: null, campaigns: [], impressions: [] };
    const campaigns = userCampaigns.map(USER_CAMPAIGNS.read);
    const hasSeen =
      sinceMs !== null && campaigns.some(({ lastImpressionMs }) => (lastImpressionMs ?? -1) >= sinceMs);
    const loaded = { exists: true, profile: user.profile, campaigns, impressions: [] };
    return hasSeen ? addImpressions(loaded, statements.impressionsSince(user.userId, sinceMs)) : loaded;
  };

  /** Reads all profiles in one statement, all campaigns in another, and impressions per request. */
  const read = async (group: readonly Pending[]): Promise<void> => {
    try {
      const found = await readUsers(
        group.map(({ request: { workspaceId, externalId } }) => ({
          workspaceId,
          lookups: [{ by: 'external_id', value: externalId }],
        })),
      );
      const users = new Map(found.map((user) => [userKey(user), user]));
      const rows =
        found.length === 0 ? [] : await send(statements.findUserCampaigns(found.map(({ userId }) => userId)));
      const userCampaigns = Map.groupBy(rows, (row) => readNumber(row, 'user_id'));
      for (const { request, resolve } of group) {
        const user = users.get(userKey(request));
        resolve(toTargetingData(request, user, user && userCampaigns.get(user.userId)));
      }
    } catch (error) {
      const isConflict = error instanceof TransientError && error.cause instanceof ConflictError;
      if (isConflict && group.length > 1) for (const pending of group) await read([pending]);
      else for (const { reject } of group) reject(error);
    }
  };

  const readNext = async (): Promise<void> => {
    reads += 1;
    await read(queue.take(MAX_REQUESTS_PER_READ).items);
    reads -= 1;
    startReads();
  };

  const startReads = (): void => {
    isScheduled = false;
    while (queue.count() > 0 && reads < MAX_CONCURRENT_READS) void readNext();
  };

  return (workspaceId, externalId, sinceMs = null) => {
    const pending = {
      ...Promise.withResolvers<LoadedUser>(),
      request: { workspaceId, externalId, sinceMs },
    };
    queue.add(pending);
    if (!isScheduled) setImmediate(startReads);
    isScheduled = true;
    return pending.promise;
  };
};
