import { profileKeys } from '../../profiles/user-key.ts';
import { isWhoWasMeant, type LockedRow, readRow, rowsOf } from './locked-rows.ts';
import type { Known } from './profile-cache.ts';
import { OutdatedError } from './retry.ts';
import type { Run } from './statement.ts';
import { BY_ID, columns, LOCK_CONTACTS, LOCK_USERS } from './user-statements.ts';
import type { Wanted } from './wanted.ts';

interface Locked {
  /** By their IDs, in their latest version. */
  found: Map<string, Known>;
  /** Nobody else has written those whom the replica remembers. */
  isAsRemembered: boolean;
}

const hasOneOf = (keys: string[][], { profile, workspaceId }: Known): boolean => {
  const own = new Set(profileKeys(profile));
  return keys.some(([key, workspace]) => workspace === workspaceId && own.has(key!));
};

/** Locks the rows of everyone wanted. */
export const lockUsers = async (run: Run, { slots, known, ids, keys }: Wanted): Promise<Locked> => {
  // Locks before rows: whoever waited here must see what the one before has created.
  if (slots.length > 0) await run(LOCK_CONTACTS, columns(slots, 1));
  const wanted = rowsOf(known);
  for (const [brazeId, workspaceId] of ids) wanted.push([brazeId!, workspaceId!, String(BY_ID)]);
  const rows = await run<LockedRow>(LOCK_USERS, [...columns(wanted, 3), ...columns(keys, 2)]);
  const found = new Map(known.map((each) => [each.profile.brazeId, each]));
  const read = new Set<string>();
  let isAsRemembered = true;
  let missing = 0;
  for (const row of rows) {
    if (row.braze_id === null) missing += Number(row.version);
    else if (!read.has(row.braze_id)) {
      read.add(row.braze_id);
      const remembered = found.get(row.braze_id);
      if (remembered && remembered.version !== Number(row.version)) isAsRemembered = false;
      const latest = readRow(row, remembered);
      found.set(row.braze_id, latest);
      if (row.is_changed && !hasOneOf(keys, latest)) missing += 1;
    }
  }
  if (missing > 0 || !known.every(isWhoWasMeant)) {
    throw new OutdatedError('A user is no more who he was');
  }
  return { found, isAsRemembered };
};
