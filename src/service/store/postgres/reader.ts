import type { Pool } from 'pg';
import type { SqlRow } from '../../operators/index.ts';
import { namedBy } from '../../profiles/lookup.ts';
import type { Profile } from '../../profiles/profile.ts';
import { POSTGRES } from '../dialect.ts';
import { recount } from '../recount.ts';
import { readNumbers } from '../results.ts';
import { bannerEventOf, eventOf, userOf } from '../rows.ts';
import { POSTGRES_STATEMENTS } from '../statements.ts';
import type { BannerUser, StoreReader } from '../store.ts';
import { createWorkspaceReads, readBannerUser, readSample } from '../workspace-reads.ts';
import { MS, readUsers, USER_COLUMNS } from './read-users.ts';
import { retryConflicts, runIn, sendOver, takeConnection } from './statement.ts';

/** Rows held at once. */
const PAGE = 500;

/** The rows of a query as they were when the first was read. A caller that stops reading gives the connection back. */
export async function* readRows(pool: Pool, text: string, values: string[]): AsyncGenerator<SqlRow, void> {
  const client = await takeConnection(pool);
  let isWhole = false;
  try {
    await client.query('BEGIN READ ONLY');
    await client.query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query<SqlRow>(`FETCH ${PAGE} FROM page`);
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
const EVENTS = `SELECT events.user_id, external_id, name, product_id, price, currency, quantity, app_id, properties,
    ${MS('time')}, ${MS('received_at')}
  FROM events JOIN users USING (user_id) WHERE events.workspace_id = $1`;
const BANNER_EVENTS = `SELECT banner_events.user_id, external_id, app_id, banner_id, campaign_id, variant_id, placement_id,
    day, language, holdout_id, is_control, is_test_send, event_type, ${MS('time')}, ${MS('received_at')}
  FROM banner_events JOIN users USING (user_id) WHERE banner_events.workspace_id = $1 AND NOT is_test_send`;

/** Reads what is committed; what may take long, over connections of `upkeep`. */
export const createReader = (pool: Pool, upkeep: Pool) => {
  const run = runIn(pool);
  const send = sendOver(run);

  const users = async (...asked: Parameters<StoreReader['readUsers']>) => {
    const [workspaceId, lookups] = asked;
    const named = namedBy([{ workspaceId, lookups }]);
    return retryConflicts(() => readUsers(run, named));
  };

  return {
    async bannerUser(
      workspaceId: string,
      externalId: string,
      sinceMs: number | null = null,
    ): Promise<BannerUser> {
      const [user] = await users(workspaceId, [{ by: 'external_id', value: externalId }]);
      return readBannerUser(send, POSTGRES_STATEMENTS, user, sinceMs);
    },

    /** What a `StoreReader` reads. */
    reads: {
      ...createWorkspaceReads(run),

      async readUsers(workspaceId, lookups) {
        return (await users(workspaceId, lookups)).flatMap(({ profile }) => profile ?? []);
      },

      async *exportUsers(workspaceId): AsyncGenerator<Profile, void> {
        for await (const row of readRows(pool, USERS, [workspaceId])) yield userOf(row).profile!;
      },

      async *exportEvents(workspaceId) {
        for await (const row of readRows(pool, EVENTS, [workspaceId])) yield eventOf(row);
      },

      async *exportBannerEvents(workspaceId) {
        for await (const row of readRows(pool, BANNER_EVENTS, [workspaceId])) yield bannerEventOf(row);
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
