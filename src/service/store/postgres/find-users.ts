import type { UserRow } from '../../profiles/changes.ts';
import { userIdOf } from '../../profiles/user-id.ts';
import { isNamedBy } from '../../profiles/user-key.ts';
import type { Lookup } from '../../profiles/user-set.ts';
import { userOf } from '../from-row.ts';
import { type Named, nameOf } from '../named-users.ts';
import { ConflictError } from './retry.ts';
import type { Run } from './statement.ts';
import { FIND_KEYS, READ_USERS } from './user-statements.ts';

/** The IDs that lookups lead to at this moment, and by which of their names each was found. */
export const findIds = async (run: Run, named: Named): Promise<Map<number, string[]>> => {
  const workspaces = new Set<string>();
  const keys: string[] = [];
  const found = new Map<number, string[]>();
  const add = (userId: number, name: string) => {
    const names = found.get(userId);
    if (names) names.push(name);
    else found.set(userId, [name]);
  };
  for (const [name, { workspaceId, key, lookup }] of named) {
    if (lookup.by === 'braze_id') {
      const userId = userIdOf(lookup.value);
      if (userId !== null) add(userId, name);
      continue;
    }
    workspaces.add(workspaceId);
    keys.push(key);
  }
  if (keys.length === 0) return found;
  const rows = await run<{ workspace_id: string; key: string; user_id: string }>(FIND_KEYS, [
    [...workspaces],
    keys,
  ]);
  for (const { workspace_id, key, user_id } of rows) {
    // Of several workspaces one may have the key that another asks for.
    const name = nameOf(workspace_id, key);
    if (named.has(name)) add(Number(user_id), name);
  }
  return found;
};

const isBorneBy = ({ profile, externalId }: UserRow, lookup: Lookup): boolean =>
  profile ? isNamedBy(profile, lookup) : lookup.by === 'external_id' && lookup.value === externalId;

interface ReadOptions {
  /** The statement that reads users by their IDs. */
  statement: string;
  /** How often to look: where the statement locks, each look finds fewer who have changed since, as those found stay. */
  looks?: number;
  /** Receives the names of users whose rows the statement passed over: somebody has locked them. */
  onLocked?(names: ReadonlySet<string>): void;
}

/**
 * Reads the users that lookups name. Between keys and rows another replica may take a key from a user, or merge the user away:
 * after the last look that is a conflict.
 */
export const readUsers = async (
  run: Run,
  named: Named,
  { statement, looks = 1, onLocked }: ReadOptions,
): Promise<UserRow[]> => {
  for (let look = 1; look <= looks; look += 1) {
    const ids = await findIds(run, named);
    if (ids.size === 0) return [];
    const rows = (await run(statement, [[...ids.keys()]])).map(userOf);
    const read = new Map(rows.map((row) => [row.userId, row]));
    const missing = [...ids.keys()].filter((userId) => !read.has(userId));
    if (onLocked && missing.length > 0) {
      const locked = (await run(READ_USERS, [missing])).map(userOf);
      const names = locked.flatMap(({ userId, workspaceId }) =>
        ids.get(userId)!.filter((name) => named.get(name)!.workspaceId === workspaceId),
      );
      if (names.length > 0) onLocked(new Set(names));
    }
    const isMeant = ([userId, names]: [number, string[]]) =>
      names.every((name) => {
        const { lookup, workspaceId } = named.get(name)!;
        const row = read.get(userId);
        if (lookup.by !== 'braze_id') return row !== undefined && isBorneBy(row, lookup);
        // These IDs come from requests: there need not be a user, and it may be another workspace's.
        if (row && row.workspaceId !== workspaceId) read.delete(userId);
        return true;
      });
    if ([...ids].every(isMeant)) return [...read.values()];
  }
  throw new ConflictError('Users have other names by now');
};
