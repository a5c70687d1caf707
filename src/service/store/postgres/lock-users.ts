import { profileKeys } from '../../profiles/user-key.ts';
import { isWhoWasMeant, type LockedRow, readRow, rowsOf } from './locked-rows.ts';
import type { Known } from './profile-cache.ts';
import { OutdatedError } from './retry.ts';
import type { Run } from './statement.ts';
import { BY_ID, columns, LOCK_CONTACTS, LOCK_USERS } from './user-statements.ts';
import type { Wanted } from './wanted.ts';

/** Each look finds fewer who came since: whoever was found is locked. */
const MOST_LOOKS = 5;

interface Locked {
  /** By their IDs, in their latest version. */
  found: Map<string, Known>;
  /** Nobody else has written those whom the replica remembers. */
  isAsRemembered: boolean;
}

/** What one look at the database comes to. */
interface Look extends Locked {
  /** Of those whom the replica remembers. */
  missing: number;
  /** While a lock was waited for, a key has lost a user: another one may have it. */
  isOutdated: boolean;
}

const readRows = (rows: LockedRow[], known: Known[]): Look => {
  const found = new Map(known.map((each) => [each.profile.brazeId, each]));
  const read = new Set<string>();
  const look = { found, isAsRemembered: true, missing: 0, isOutdated: false };
  for (const row of rows) {
    if (row.braze_id === null) {
      look.missing = Number(row.version);
      look.isOutdated ||= row.is_changed === true;
      continue;
    }
    if (!read.has(row.braze_id)) {
      read.add(row.braze_id);
      const remembered = found.get(row.braze_id);
      if (remembered && remembered.version !== Number(row.version)) look.isAsRemembered = false;
      found.set(row.braze_id, readRow(row, remembered));
    }
    if (row.is_changed && !profileKeys(found.get(row.braze_id)!.profile).includes(row.key!)) {
      look.isOutdated = true;
    }
  }
  return look;
};

/** Locks the rows of everyone wanted. */
export const lockUsers = async (run: Run, { slots, known, ids, keys }: Wanted): Promise<Locked> => {
  // Locks before rows: whoever waited here must see what the one before has created.
  if (slots.length > 0) await run(LOCK_CONTACTS, columns(slots, 1));
  const wanted = rowsOf(known);
  for (const [brazeId, workspaceId] of ids) wanted.push([brazeId!, workspaceId!, String(BY_ID)]);
  let isAsRemembered = true;
  for (let looks = 1; looks <= MOST_LOOKS; looks += 1) {
    const rows = await run<LockedRow>(LOCK_USERS, [...columns(wanted, 3), ...columns(keys, 2)]);
    const look = readRows(rows, known);
    isAsRemembered &&= look.isAsRemembered;
    if (look.missing > 0 || !known.every(isWhoWasMeant)) break;
    if (!look.isOutdated) return { found: look.found, isAsRemembered };
  }
  throw new OutdatedError('A user is no more who he was');
};
