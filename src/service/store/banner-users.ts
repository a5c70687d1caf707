import { readNumber, readText, type SqlRow } from '../operators/index.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { UserRow } from '../profiles/user-set.ts';
import { msIn } from '../sql/columns.ts';
import type { Send } from '../sql/dialect.ts';
import { campaignOf } from './rows.ts';
import type { Statements } from './statements.ts';
import type { BannerUser, Impression, Store } from './store.ts';
import { createWaiting } from './waiting.ts';
import { ConflictError, RetryLaterError } from './write-errors.ts';

/** Reads for decisions that may be under way at once. */
const READS = 2;
/** Questions that one read answers: their profiles are parsed in one go. */
const MAX_QUESTIONS = 32;

/** Whom a decision is about, and since when impressions count, in Unix milliseconds; `null` where none do. */
interface Question {
  workspaceId: string;
  externalId: string;
  sinceMs: number | null;
}

interface BannerUsersOptions {
  /** The users of the lookups who are there. */
  readUsers(asked: { workspaceId: string; lookups: Lookup[] }[]): Promise<UserRow[]> | UserRow[];
  send: Send<Promise<SqlRow[]> | SqlRow[]>;
  statements: Pick<Statements, 'statesOf' | 'impressionsSince'>;
}

const impressionOf = (row: SqlRow): Impression => ({
  campaignId: readText(row, 'campaign_id'),
  timeMs: msIn(row, 'occurred_at'),
});

const nameOf = (user: { workspaceId: string; externalId: string | null }) =>
  JSON.stringify([user.workspaceId, user.externalId]);

/**
 * Reads what decisions ask of users. Questions wait for the end of the turn of the event loop, or for one of the two reads under way;
 * each read takes up to 32. A statement costs PostgreSQL and the service more than one more row of its answer, and to begin and end
 * a read costs SQLite four times as much as to find a user. Where PostgreSQL's keys and rows do not fit together, each question of the
 * read is asked alone, so that no other is refused. Any other failure refuses all of a read. A question that waits for ten seconds
 * is refused.
 */
export const createBannerUsers = ({
  readUsers,
  send,
  statements,
}: BannerUsersOptions): Store['bannerUser'] => {
  type Asked = PromiseWithResolvers<BannerUser> & { question: Question };
  const waiting = createWaiting<Asked>({
    refuse: ({ reject }) => reject(new RetryLaterError('Other reads take too long')),
  });
  let reads = 0;
  let isScheduled = false;

  /** Reads impressions only where the user has seen a campaign since `sinceMs`. */
  const answerOf = async (
    { sinceMs }: Question,
    user: UserRow | undefined,
    states: readonly SqlRow[] = [],
  ): Promise<BannerUser> => {
    if (!user) return { profile: null, campaigns: [], impressions: [] };
    const campaigns = states.map(campaignOf);
    const hasSeen =
      sinceMs !== null && campaigns.some(({ lastImpressionMs }) => (lastImpressionMs ?? -1) >= sinceMs);
    const impressions = hasSeen ? await send(statements.impressionsSince(user.userId, sinceMs)) : [];
    return { profile: user.profile, campaigns, impressions: impressions.map(impressionOf) };
  };

  /** The profiles and the campaigns of all in a statement each. An answer waits for its own impressions alone. */
  const read = async (group: readonly Asked[]): Promise<void> => {
    try {
      const found = await readUsers(
        group.map(({ question: { workspaceId, externalId } }) => ({
          workspaceId,
          lookups: [{ by: 'external_id', value: externalId }],
        })),
      );
      const users = new Map(found.map((user) => [nameOf(user), user]));
      const rows =
        found.length === 0 ? [] : await send(statements.statesOf(found.map(({ userId }) => userId)));
      const states = Map.groupBy(rows, (row) => readNumber(row, 'user_id'));
      for (const { question, resolve } of group) {
        const user = users.get(nameOf(question));
        resolve(answerOf(question, user, user && states.get(user.userId)));
      }
    } catch (error) {
      const isOfOne = error instanceof RetryLaterError && error.cause instanceof ConflictError;
      if (isOfOne && group.length > 1) for (const asked of group) await read([asked]);
      else for (const { reject } of group) reject(error);
    }
  };

  const readNext = async (): Promise<void> => {
    reads += 1;
    await read(waiting.take(MAX_QUESTIONS).items);
    reads -= 1;
    startReads();
  };

  const startReads = (): void => {
    isScheduled = false;
    while (waiting.count() > 0 && reads < READS) void readNext();
  };

  return (workspaceId, externalId, sinceMs = null) => {
    const asked = { ...Promise.withResolvers<BannerUser>(), question: { workspaceId, externalId, sinceMs } };
    waiting.add(asked);
    if (!isScheduled) setImmediate(startReads);
    isScheduled = true;
    return asked.promise;
  };
};
