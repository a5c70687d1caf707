import { randomBytes } from 'node:crypto';
import { createReadImage } from '../operators/index.ts';
import type { UserRow } from '../profiles/user-repository.ts';
import { readSummaries } from '../results/read.ts';
import { type RunSql, readNumber, readText, type SqlRow } from '../sql/row-readers.ts';
import { USER_CAMPAIGNS } from '../sql/user-tables.ts';
import type { Sample, SampleQuery, StoreReader } from './store.ts';

/**
 * Maximum number of rows that an export holds at once. On SQLite, a page is one short read, so an export never blocks a
 * checkpoint.
 */
export const EXPORT_PAGE = 500;

/**
 * Maximum number of users that a lookup reads at once. Thousands may share an address, and other requests run between two pages.
 */
export const USERS_PAGE = 100;

/** Creates the reads that use the same statements on both databases. */
export const createWorkspaceReads = (
  run: RunSql,
): Pick<StoreReader, 'workspaceIds' | 'dataPoints' | 'campaignSummaries' | 'image'> => ({
  image: createReadImage(run),
  campaignSummaries: (workspaceId, days) => readSummaries(run, workspaceId, days),

  async workspaceIds() {
    const rows = await run('SELECT workspace_id FROM workspaces ORDER BY workspace_id', []);
    return rows.map((row) => readText(row, 'workspace_id'));
  },

  async *dataPoints(workspaceId) {
    const rows = await run(
      'SELECT CAST(day AS text) AS day, sum(points) AS points FROM data_points WHERE workspace_id = $1 GROUP BY 1 ORDER BY 1',
      [workspaceId],
    );
    for (const row of rows) yield { day: readText(row, 'day'), points: readNumber(row, 'points') };
  },
});

const READ = 'SELECT secret FROM workspaces WHERE workspace_id = $1';
/** Does nothing if another replica has already added a secret. */
const ADD = 'INSERT INTO workspaces (workspace_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING';

/**
 * Creates the function that adds a workspace to the database and returns its secret, which all replicas share. Caches secrets.
 */
export const createEnsureWorkspace = (run: RunSql) => {
  const secrets = new Map<string, Promise<string>>();

  const read = async (workspaceId: string): Promise<string | undefined> => {
    const [row] = await run(READ, [workspaceId]);
    return row && readText(row, 'secret');
  };

  const readOrCreate = async (workspaceId: string): Promise<string> => {
    const stored = await read(workspaceId);
    if (stored !== undefined) return stored;
    const secret = randomBytes(32).toString('hex');
    await run(ADD, [workspaceId, secret]);
    return (await read(workspaceId)) ?? secret;
  };

  return (workspaceId: string): Promise<string> => {
    const known = secrets.get(workspaceId);
    if (known) return known;
    const secret = readOrCreate(workspaceId);
    secrets.set(workspaceId, secret);
    secret.catch(() => secrets.delete(workspaceId));
    return secret;
  };
};

/** Range of the hash of a user ID. The hash uses only operators that both databases support. */
const HASH_RANGE = 2 ** 32;
const USER_HASH = `(((user_id & ${HASH_RANGE - 1}) * 1540483477) & ${HASH_RANGE - 1})`;

const FROM_SAMPLE = `FROM users WHERE workspace_id = $1 AND ${USER_HASH} < $2`;
const COUNT_USERS = 'SELECT count(*) AS total FROM users WHERE workspace_id = $1';
const selectUsers = (columns: string) => `SELECT ${columns} ${FROM_SAMPLE} ORDER BY ${USER_HASH}`;
const selectUserCampaigns = (columns: string, campaigns: number) =>
  `SELECT ${columns} FROM user_campaigns WHERE user_id IN (SELECT user_id ${FROM_SAMPLE})
   AND campaign_id IN (${Array.from({ length: campaigns }, (_, index) => `$${index + 3}`).join(', ')})`;

/** Reads a sample on either database. Scans the IDs of all users, which takes a second for ten million users. */
export const readSample = async (
  run: RunSql,
  columns: { users: string; userCampaigns: string },
  { workspaceId, size, campaignIds }: SampleQuery,
): Promise<{ total: number; users: SqlRow[]; userCampaigns: SqlRow[] }> => {
  const [row] = await run(COUNT_USERS, [workspaceId]);
  const total = Number(row?.['total']);
  // About `size` users have a lower hash.
  const below = total <= size ? HASH_RANGE : Math.ceil((size / total) * HASH_RANGE);
  const users = await run(selectUsers(columns.users), [workspaceId, below]);
  if (campaignIds.length === 0) return { total, users, userCampaigns: [] };
  const sql = selectUserCampaigns(columns.userCampaigns, campaignIds.length);
  return { total, users, userCampaigns: await run(sql, [workspaceId, below, ...campaignIds]) };
};

/** Joins the rows of `user_campaigns` of a sample to their users. */
export const toSample = (
  { total, users, userCampaigns }: Awaited<ReturnType<typeof readSample>>,
  toUser: (row: SqlRow) => Pick<UserRow, 'externalId' | 'profile'>,
): Sample => {
  const userCampaignsByUserId = Map.groupBy(userCampaigns, (row) => readNumber(row, 'user_id'));
  return {
    total,
    users: users.map((row) => {
      const user = toUser(row);
      const campaigns = (userCampaignsByUserId.get(readNumber(row, 'user_id')) ?? []).map(
        USER_CAMPAIGNS.read,
      );
      // Modifies the user in place, because the profile is parsed lazily.
      return Object.assign(user, { campaigns });
    }),
  };
};
