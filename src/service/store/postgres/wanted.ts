import { comparableEmail, comparablePhone, lookupKey } from '../../users/user-key.ts';
import type { UserWork } from '../store.ts';

/** Locks that stand for e-mail addresses and phone numbers which nobody has yet. */
const CONTACT_LOCKS = 4_096;

/** A stable number for a text, to choose a lock by. */
const slotOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % CONTACT_LOCKS;
};

/** What a transaction must lock before it can know who exists. */
export const wantedBy = (works: UserWork<unknown>[]) => {
  const keys = new Map<string, string[]>();
  const ids = new Map<string, string[]>();
  const slots = new Set<number>();
  for (const { workspaceId, lookups } of works) {
    for (const lookup of lookups) {
      if (lookup.by === 'braze_id') {
        if (/^[0-9a-f]{25}$/.test(lookup.value))
          ids.set(`${workspaceId} ${lookup.value}`, [lookup.value, workspaceId]);
        continue;
      }
      const key = lookupKey(lookup);
      keys.set(`${workspaceId} ${key}`, [key, workspaceId]);
      // Two replicas that both find nobody for an address must not both create somebody.
      if (lookup.by === 'email') slots.add(slotOf(`${workspaceId} e${comparableEmail(lookup.value)}`));
      if (lookup.by === 'phone') slots.add(slotOf(`${workspaceId} p${comparablePhone(lookup.value)}`));
    }
  }
  return {
    slots: [...slots].sort((a, b) => a - b).map((slot) => [String(slot)]),
    keys: [...keys.values()],
    ids: [...ids.values()],
  };
};
