import type { Pool } from 'pg';
import { collectLookups, type Lookup } from '../../profiles/lookup.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { UserRow } from '../../profiles/user-repository.ts';
import { retryUntilCounted, verifyResults } from '../../results/verify.ts';
import { POSTGRES, selectList } from '../../sql/dialect.ts';
import type { SqlRow } from '../../sql/row-readers.ts';
import { BANNER_EVENTS, EVENTS, USER_CAMPAIGNS } from '../../sql/user-tables.ts';
import { toBannerEventRow, toEventRow, toUserRow } from '../rows.ts';
import { POSTGRES_STATEMENTS, selectWithExternalId } from '../statements.ts';
import type { StoreReader } from '../store.ts';
import { createTargetingLoader } from '../targeting-loader.ts';
import { createWorkspaceReads, EXPORT_PAGE, readSample, toSample } from '../workspace-reads.ts';
import { readUserPages, readUsers, USER_COLUMNS } from './read-users.ts';
import {
  createClientRun,
  createPoolRun,
  createSend,
  inTransaction,
  type Run,
  retryConflicts,
  takeConnection,
} from './statement.ts';

/** Yields the rows of a query in pages, within a transaction. */
async function* fetchRows(run: Run, text: string, values: (string | number)[]): AsyncGenerator<SqlRow, void> {
  await run(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
  for (;;) {
    const rows = await run(`FETCH ${EXPORT_PAGE} FROM page`);
    if (rows.length === 0) return;
    yield* rows;
  }
}

/** Yields the rows of a query from one snapshot. Releases the connection if the caller stops early. */
export async function* readRows(
  pool: Pool,
  text: string,
  values: (string | number)[],
): AsyncGenerator<SqlRow, void> {
  const client = await takeConnection(pool);
  let isWhole = false;
  try {
    await client.query('BEGIN READ ONLY');
    yield* fetchRows(createClientRun(client), text, values);
    await client.query('COMMIT');
    isWhole = true;
  } finally {
    client.release(!isWhole);
  }
}

/** The counts must be those of the events. A cluster has no snapshot across nodes. */
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const USERS = `SELECT ${USER_COLUMNS} FROM users WHERE workspace_id = $1 AND profile IS NOT NULL`;
const EVENTS_OF_USERS = `${selectWithExternalId(POSTGRES, EVENTS)} WHERE events.workspace_id = $1`;
const BANNER_EVENTS_OF_USERS = `${selectWithExternalId(POSTGRES, BANNER_EVENTS)}
  WHERE banner_events.workspace_id = $1 AND NOT is_test_send`;

/** Creates a reader of committed data. Long reads use connections of `upkeep`. */
export const createReader = (pool: Pool, upkeep: Pool) => {
  const run = createPoolRun(pool);
  const send = createSend(run);

  const readCommittedUsers = (queries: { workspaceId: string; lookups: readonly Lookup[] }[]) => {
    const distinctLookups = collectLookups(queries);
    return retryConflicts(() => readUsers(run, distinctLookups));
  };

  const reads: Omit<StoreReader, 'close'> = {
    ...createWorkspaceReads(run),

    async readUsers(workspaceId, lookups) {
      const distinctLookups = collectLookups([{ workspaceId, lookups }]);
      const found = new Map<number, UserRow>();
      const add = (page: UserRow[]) => {
        for (const user of page) found.set(user.userId, user);
      };
      const isFound = (userId: number) => found.has(userId);
      await retryConflicts(() => readUserPages(run, distinctLookups, add, { isFound }));
      return [...found.values()].flatMap(({ profile }) => profile ?? []);
    },

    async *exportUsers(workspaceId): AsyncGenerator<Profile, void> {
      for await (const row of readRows(pool, USERS, [workspaceId])) yield toUserRow(row).profile!;
    },

    async *exportEvents(workspaceId) {
      for await (const row of readRows(pool, EVENTS_OF_USERS, [workspaceId])) yield toEventRow(row);
    },

    async *exportBannerEvents(workspaceId) {
      for await (const row of readRows(pool, BANNER_EVENTS_OF_USERS, [workspaceId]))
        yield toBannerEventRow(row);
    },

    verifyResults: (workspaceId) =>
      retryUntilCounted(() =>
        inTransaction(
          upkeep,
          (run) => verifyResults(run, (sql, values) => fetchRows(run, sql, values), POSTGRES, workspaceId),
          SNAPSHOT,
        ),
      ),

    async sampleUsers(query) {
      const columns = { users: USER_COLUMNS, userCampaigns: selectList(POSTGRES, USER_CAMPAIGNS.columns) };
      return toSample(await readSample(createPoolRun(upkeep), columns, query), toUserRow);
    },
  };

  return {
    loadTargetingData: createTargetingLoader({
      readUsers: readCommittedUsers,
      send,
      statements: POSTGRES_STATEMENTS,
    }),

    reads,
  };
};
