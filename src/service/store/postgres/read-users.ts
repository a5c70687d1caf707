import {
  type DistinctLookups,
  type Lookup,
  matchesLookup,
  parseUserId,
  toLookupId,
} from '../../profiles/lookup.ts';
import type { UserGenerations } from '../../profiles/user-generations.ts';
import type { UserRow } from '../../profiles/user-repository.ts';
import { POSTGRES, selectList } from '../../sql/dialect.ts';
import { readNumber, readText } from '../../sql/row-readers.ts';
import { USERS } from '../../sql/user-tables.ts';
import { toUserRow } from '../rows.ts';
import { USERS_PAGE } from '../workspace-reads.ts';
import { ConflictError } from '../write-errors.ts';
import type { Run } from './statement.ts';

export const FIND_IDENTIFIERS = `SELECT workspace_id, identifier, user_id FROM user_identifiers
  WHERE workspace_id = ANY($1::text[]) AND identifier = ANY($2::text[])`;

export const USER_COLUMNS = selectList(POSTGRES, USERS.columns);
const IS_KNOWN = `version = known_version AND updated_at = ${POSTGRES.timestamp('known_ms')}`;
/** Reads users. Omits the profile if version (`$2`) and timestamp (`$3`) match the cached row. */
export const READ_CHANGED_USERS = `SELECT ${selectList(
  POSTGRES,
  USERS.columns.filter(({ name }) => name !== 'profile'),
)},
    CASE WHEN ${IS_KNOWN} THEN NULL ELSE profile END AS profile, ${IS_KNOWN} AS is_known
  FROM (SELECT unnest($1::bigint[]) AS known_id, unnest($2::bigint[]) AS known_version, unnest($3::float8[]) AS known_ms) AS known
  JOIN users ON user_id = known_id`;
// Sorted, so that every transaction locks its rows in the same order.
export const LOCK_USERS = `${READ_CHANGED_USERS} ORDER BY user_id FOR UPDATE OF users`;
/** Locks users. Skips users that another transaction has locked. */
export const LOCK_USERS_SKIP_LOCKED = `${LOCK_USERS} SKIP LOCKED`;

interface ReadOptions {
  statement?: string;
  /** Users in memory. The database does not send their profiles if they are current. */
  cachedUsers?: Pick<UserGenerations, 'getRow'> | undefined;
}

/** Returns the user IDs of lookups, with the lookup IDs that matched each user. */
const findIds = async (run: Run, distinctLookups: DistinctLookups): Promise<Map<number, string[]>> => {
  const workspaces = new Set<string>();
  const identifiers: string[] = [];
  const found = new Map<number, string[]>();
  const add = (userId: number, lookupId: string) => {
    const lookupIds = found.get(userId);
    if (lookupIds) lookupIds.push(lookupId);
    else found.set(userId, [lookupId]);
  };
  for (const [lookupId, { workspaceId, identifier, lookup }] of distinctLookups) {
    if (lookup.by === 'braze_id') {
      const userId = parseUserId(lookup.value);
      if (userId !== null) add(userId, lookupId);
      continue;
    }
    workspaces.add(workspaceId);
    identifiers.push(identifier);
  }
  if (identifiers.length === 0) return found;
  for (const row of await run(FIND_IDENTIFIERS, [[...workspaces], identifiers])) {
    // The lookup may name the identifier in only one of the workspaces.
    const lookupId = toLookupId(readText(row, 'workspace_id'), readText(row, 'identifier'));
    if (distinctLookups.has(lookupId)) add(readNumber(row, 'user_id'), lookupId);
  }
  return found;
};

const matchesUser = ({ profile, externalId }: UserRow, lookup: Lookup): boolean =>
  profile ? matchesLookup(profile, lookup) : lookup.by === 'external_id' && lookup.value === externalId;

/** Another transaction holds locks on users. */
export class LockedError extends Error {
  override name = 'LockedError';
  /** Lookup IDs that matched the users. */
  readonly lookupIds: ReadonlySet<string>;

  constructor(lookupIds: readonly string[]) {
    super('A user is locked');
    this.lookupIds = new Set(lookupIds);
  }
}

/**
 * Reads the users that `findIds` found. Throws `ConflictError` if another replica has in the meantime removed an identifier from a
 * user, or merged the user. Throws `LockedError` if the statement skips locked users.
 */
const readFound = async (
  run: Run,
  distinctLookups: DistinctLookups,
  ids: Map<number, string[]>,
  { statement = READ_CHANGED_USERS, cachedUsers }: ReadOptions = {},
): Promise<UserRow[]> => {
  if (ids.size === 0) return [];
  const getCached = (userId: number) =>
    ids
      .get(userId)!
      .map((id) => cachedUsers?.getRow(distinctLookups.get(id)!.workspaceId, userId))
      .find((row) => row);
  const getLookupIds = ({ userId, workspaceId }: UserRow) =>
    ids.get(userId)!.filter((id) => distinctLookups.get(id)!.workspaceId === workspaceId);
  const read = async (sql: string, userIds: number[]) => {
    const cached = new Map(userIds.map((userId) => [userId, getCached(userId)]));
    // Matches no row if the user is not cached.
    const versions = userIds.map((userId) => cached.get(userId)?.version ?? -1);
    const times = userIds.map((userId) => {
      const user = cached.get(userId);
      return user?.profile?.updatedAtMs ?? user?.lastActivityMs ?? 0;
    });
    const rows = (await run(sql, [userIds, versions, times])).map((row) =>
      row['is_known'] === true ? cached.get(readNumber(row, 'user_id'))! : toUserRow(row),
    );
    // A `braze_id` comes from a request, so the user may not exist or may belong to another workspace.
    return rows.filter((user) => getLookupIds(user).length > 0);
  };
  const users = new Map((await read(statement, [...ids.keys()])).map((user) => [user.userId, user]));
  const missing = [...ids.keys()].filter((userId) => !users.has(userId));
  if (statement === LOCK_USERS_SKIP_LOCKED && missing.length > 0) {
    const locked = await read(READ_CHANGED_USERS, missing);
    if (locked.length > 0) throw new LockedError(locked.flatMap(getLookupIds));
  }
  for (const [userId, lookupIds] of ids) {
    const user = users.get(userId);
    for (const lookupId of lookupIds) {
      const { lookup } = distinctLookups.get(lookupId)!;
      if (lookup.by === 'braze_id' || (user && matchesUser(user, lookup))) continue;
      throw new ConflictError('Users have other identifiers by now');
    }
  }
  return [...users.values()];
};

/** Reads the users of lookups. Throws the errors of `readFound`. */
export const readUsers = async (run: Run, distinctLookups: DistinctLookups): Promise<UserRow[]> =>
  readFound(run, distinctLookups, await findIds(run, distinctLookups));

/** Passes each user of the lookups once to `add`, in pages. Skips users for which `isFound` returns `true`. */
export const readUserPages = async (
  run: Run,
  distinctLookups: DistinctLookups,
  add: (page: UserRow[]) => void,
  {
    pageSize = USERS_PAGE,
    isFound = () => false,
    ...options
  }: ReadOptions & { pageSize?: number; isFound?: (userId: number) => boolean } = {},
): Promise<void> => {
  const missing = [...(await findIds(run, distinctLookups))].filter(([userId]) => !isFound(userId));
  // In the order in which every transaction locks users.
  missing.sort(([a], [b]) => a - b);
  for (let at = 0; at < missing.length; at += pageSize) {
    const page = new Map(missing.slice(at, at + pageSize));
    add(await readFound(run, distinctLookups, page, options));
  }
};
