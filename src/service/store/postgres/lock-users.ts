import { isWhoWasMeant, type LockedRow, readRow, rowsOf } from './locked-rows.ts';
import type { Known } from './profile-cache.ts';
import { OutdatedError } from './retry.ts';
import type { Run } from './statement.ts';
import { columns, LOCK_CONTACTS, LOCK_USERS } from './user-statements.ts';
import type { Wanted } from './wanted.ts';

/** No row has this version. */
const NEVER = '-1';

interface Locked {
  /** By their IDs, in their latest version. */
  found: Map<string, Known>;
  /** Nobody else has written those whom the replica remembers. */
  isAsRemembered: boolean;
}

/** Locks the rows of everyone wanted. */
export const lockUsers = async (run: Run, { slots, known, ids, keys }: Wanted): Promise<Locked> => {
  // Locks before rows: whoever waited here must see what the one before has created.
  if (slots.length > 0) await run(LOCK_CONTACTS, columns(slots, 1));
  const wanted = rowsOf(known);
  for (const [brazeId, workspaceId] of ids) wanted.push([brazeId!, workspaceId!, NEVER]);
  const rows = await run<LockedRow>(LOCK_USERS, [...columns(wanted, 3), ...columns(keys, 2)]);
  const found = new Map(known.map((each) => [each.profile.brazeId, each]));
  const read = new Set<string>();
  let isAsRemembered = true;
  let present = 0;
  for (const row of rows) {
    if (row.braze_id === null) present = Number(row.version);
    else if (!read.has(row.braze_id)) {
      read.add(row.braze_id);
      const remembered = found.get(row.braze_id);
      if (remembered && remembered.version !== Number(row.version)) isAsRemembered = false;
      found.set(row.braze_id, readRow(row, remembered));
    }
  }
  if (present < known.length || !known.every(isWhoWasMeant)) {
    throw new OutdatedError('A user is no more whom this replica remembers');
  }
  return { found, isAsRemembered };
};
