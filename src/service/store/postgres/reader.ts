import type { Pool } from 'pg';
import type { SqlRow } from '../../operators/index.ts';
import { type Lookup, namedBy } from '../../profiles/lookup.ts';
import type { Profile } from '../../profiles/profile.ts';
import { createWaiting } from '../commit-queue.ts';
import { POSTGRES, selected } from '../dialect.ts';
import { recount } from '../recount.ts';
import { readNumbers } from '../results.ts';
import { BANNER_EVENTS, bannerEventOf, type Column, EVENTS, eventOf, userOf } from '../rows.ts';
import { POSTGRES_STATEMENTS } from '../statements.ts';
import type { BannerUser, StoreReader } from '../store.ts';
import {
  type BannerQuestion,
  createWorkspaceReads,
  EXPORT_PAGE,
  readBannerUsers,
  readSample,
} from '../workspace-reads.ts';
import { ConflictError, RetryLaterError } from '../write-errors.ts';
import { readUsers, USER_COLUMNS } from './read-users.ts';
import { retryConflicts, runIn, sendOver, takeConnection } from './statement.ts';

/** The rows of a query as they were when the first was read. A caller that stops reading gives the connection back. */
export async function* readRows(pool: Pool, text: string, values: string[]): AsyncGenerator<SqlRow, void> {
  const client = await takeConnection(pool);
  let isWhole = false;
  try {
    await client.query('BEGIN READ ONLY');
    await client.query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query<SqlRow>(`FETCH ${EXPORT_PAGE} FROM page`);
      if (rows.length === 0) break;
      yield* rows;
    }
    await client.query('COMMIT');
    isWhole = true;
  } finally {
    client.release(!isWhole);
  }
}

const USERS = `SELECT ${USER_COLUMNS} FROM users WHERE workspace_id = $1 AND profile IS NOT NULL`;
/** The workspace is known; `users` has one as well. */
const exported = <T>(columns: readonly Column<T>[]): string =>
  `external_id, ${selected(
    POSTGRES,
    columns.filter(({ name }) => name !== 'workspace_id'),
  )}`;
const EVENTS_OF_USERS = `SELECT ${exported(EVENTS)}
  FROM events JOIN users USING (user_id) WHERE events.workspace_id = $1`;
const BANNER_EVENTS_OF_USERS = `SELECT ${exported(BANNER_EVENTS)}
  FROM banner_events JOIN users USING (user_id) WHERE banner_events.workspace_id = $1 AND NOT is_test_send`;

/** Reads for decisions that are under way at once. */
const SHARED_READS = 2;
/** Questions that one read answers: their profiles are parsed in one go. */
const MAX_QUESTIONS = 32;

/**
 * While two reads are under way, questions wait; the next read answers up to 32 of them. A statement costs PostgreSQL and the service
 * more than one more row of its answer. Where a user is not as the keys say, each question is asked alone, so that no other is
 * refused. A question that waits for ten seconds is refused.
 */
const createShared = <Question, Answer>(
  read: (questions: readonly Question[]) => Promise<(Answer | Promise<Answer>)[]>,
) => {
  type Asked = PromiseWithResolvers<Answer> & { question: Question };
  const waiting = createWaiting<Asked>({
    refuse: ({ reject }) => reject(new RetryLaterError('Other reads take too long')),
  });
  let reads = 0;

  const answer = async (group: readonly Asked[]): Promise<void> => {
    try {
      const answers = await read(group.map(({ question }) => question));
      for (const [index, { resolve }] of group.entries()) resolve(answers[index]!);
    } catch (error) {
      const isOfOne = error instanceof RetryLaterError && error.cause instanceof ConflictError;
      if (isOfOne && group.length > 1) for (const asked of group) await answer([asked]);
      else for (const { reject } of group) reject(error);
    }
  };

  const readNext = async (): Promise<void> => {
    if (waiting.count() === 0 || reads === SHARED_READS) return;
    reads += 1;
    await answer(waiting.take(MAX_QUESTIONS).items);
    reads -= 1;
    void readNext();
  };

  return (question: Question): Promise<Answer> => {
    const asked = { ...Promise.withResolvers<Answer>(), question };
    waiting.add(asked);
    void readNext();
    return asked.promise;
  };
};

/** Reads what is committed; what may take long, over connections of `upkeep`. */
export const createReader = (pool: Pool, upkeep: Pool) => {
  const run = runIn(pool);
  const send = sendOver(run);

  const usersOf = (asked: { workspaceId: string; lookups: readonly Lookup[] }[]) => {
    const named = namedBy(asked);
    return retryConflicts(() => readUsers(run, named));
  };

  const bannerUsers = createShared(async (questions: readonly BannerQuestion[]) => {
    const users = await usersOf(
      questions.map(({ workspaceId, externalId }) => ({
        workspaceId,
        lookups: [{ by: 'external_id', value: externalId }],
      })),
    );
    return readBannerUsers(send, POSTGRES_STATEMENTS, questions, users);
  });

  return {
    bannerUser: (
      workspaceId: string,
      externalId: string,
      sinceMs: number | null = null,
    ): Promise<BannerUser> => bannerUsers({ workspaceId, externalId, sinceMs }),

    /** What a `StoreReader` reads. */
    reads: {
      ...createWorkspaceReads(run),

      async readUsers(workspaceId, lookups) {
        return (await usersOf([{ workspaceId, lookups }])).flatMap(({ profile }) => profile ?? []);
      },

      async *exportUsers(workspaceId): AsyncGenerator<Profile, void> {
        for await (const row of readRows(pool, USERS, [workspaceId])) yield userOf(row).profile!;
      },

      async *exportEvents(workspaceId) {
        for await (const row of readRows(pool, EVENTS_OF_USERS, [workspaceId])) yield eventOf(row);
      },

      async *exportBannerEvents(workspaceId) {
        for await (const row of readRows(pool, BANNER_EVENTS_OF_USERS, [workspaceId]))
          yield bannerEventOf(row);
      },

      campaignNumbers: (workspaceId) => readNumbers(run, workspaceId),

      recount: (workspaceId) =>
        recount(runIn(upkeep), (sql, of) => readRows(upkeep, sql, [of]), POSTGRES, workspaceId),

      async sampleUsers(workspaceId, size) {
        const { total, rows } = await readSample(runIn(upkeep), USER_COLUMNS, workspaceId, size);
        return { total, users: rows.map(userOf) };
      },
    } satisfies Omit<StoreReader, 'close'>,
  };
};
