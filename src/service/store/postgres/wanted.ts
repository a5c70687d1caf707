import { fnv1a } from '../../fnv-1a.ts';
import { lookupKey } from '../../profiles/user-key.ts';
import type { Lookup } from '../../profiles/user-set.ts';
import type { UserWork } from '../store.ts';
import type { Known, ProfileCache } from './profile-cache.ts';

/** Locks that stand for e-mail addresses, phone numbers and tokens to import which nobody has yet. */
const CONTACT_LOCKS = 4_096;

/** What a user is created by whom nobody has; an external ID is unique by itself. Tokens are only looked up to import them. */
const CREATING: ReadonlySet<Lookup['by']> = new Set(['email', 'phone', 'push_token']);

/** A stable number for a text, to choose a lock by. */
const slotOf = (text: string): number => fnv1a(text) % CONTACT_LOCKS;

/** What a transaction must lock before it can know who exists. */
export interface Wanted {
  /** Advisory locks, in order. */
  slots: string[][];
  /** Users whom the replica remembers. */
  known: Known[];
  /** IDs and keys of others, each with its workspace. */
  ids: string[][];
  keys: string[][];
}

export const wantedBy = (works: UserWork<unknown>[], cache: ProfileCache): Wanted => {
  const known = new Set<Known>();
  const keys = new Map<string, string[]>();
  const ids = new Map<string, string[]>();
  const slots = new Set<number>();

  const want = (workspaceId: string, lookup: Lookup) => {
    if (lookup.by === 'external_id') {
      const remembered = cache.find(workspaceId, lookup.value);
      if (remembered) {
        known.add(remembered);
        return;
      }
    }
    if (lookup.by === 'braze_id') {
      if (/^[0-9a-f]{25}$/.test(lookup.value)) {
        ids.set(`${workspaceId} ${lookup.value}`, [lookup.value, workspaceId]);
      }
      return;
    }
    const key = lookupKey(lookup);
    keys.set(`${workspaceId} ${key}`, [key, workspaceId]);
    // Two replicas that both find nobody must not both create somebody.
    if (CREATING.has(lookup.by)) slots.add(slotOf(`${workspaceId} ${key}`));
  };

  for (const { workspaceId, lookups } of works) for (const lookup of lookups) want(workspaceId, lookup);
  return {
    slots: [...slots].sort((a, b) => a - b).map((slot) => [String(slot)]),
    known: [...known],
    ids: [...ids.values()],
    keys: [...keys.values()],
  };
};

export const isNothing = ({ slots, known, ids, keys }: Wanted): boolean =>
  slots.length + known.length + ids.length + keys.length === 0;
