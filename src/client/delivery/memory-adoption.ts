import type { Store, StoreKey } from '../platform/store.ts';
import { COUNTED_KEY, mergeCounted, readCounted } from './counted.ts';
import { isMeta, META_KEY, type Meta } from './records.ts';

/**
 * In memory mode sequences begin here plus a random part: when the real store is back, no key of this tab meets a key
 * that is there already, and requests under way still find their records.
 */
export const MEMORY_SEQUENCE = 2 ** 40;

const SUMS = [
  'events',
  'bytes',
  'captured',
  'delivered',
  'deadLetters',
  'discarded',
  'evicted',
  'expired',
  'purged',
  'batches',
] as const;

const merge = (stored: Meta, memory: Meta): Meta => {
  const meta: Meta = { ...stored };
  for (const name of SUMS) meta[name] += memory[name];
  meta.lastTime = Math.max(stored.lastTime, memory.lastTime);
  meta.lastKeys = stored.lastTime > memory.lastTime ? stored.lastKeys : memory.lastKeys;
  meta.slices = [...stored.slices, ...memory.slices].slice(-16);
  if (memory.consent !== 'enabled') meta.consent = memory.consent;
  if (memory.wait.until > stored.wait.until) meta.wait = memory.wait;
  meta.refusedKey ??= memory.refusedKey;
  return meta;
};

/** Moves what was kept in memory into the real store, in one transaction, counters included. */
export const adoptMemory = async (records: [StoreKey, unknown][], primary: Store): Promise<void> => {
  const memory = records.map(([, record]) => record).find(isMeta);
  if (memory === undefined) return;
  const names = readCounted(records.find(([, record]) => Array.isArray(record))?.[1]);
  const kept = records.filter(([, record]) => record !== memory && !Array.isArray(record));
  await primary.update<unknown>([META_KEY, COUNTED_KEY], ([stored, counted]) => {
    const others = [...kept, [COUNTED_KEY, mergeCounted(readCounted(counted), names)] as [StoreKey, unknown]];
    if (!isMeta(stored)) return [[META_KEY, { ...memory, sequence: 0, sender: null }], ...others];
    // Opted out before this page could read it: nothing of it may be kept or sent.
    if (stored.consent === 'disabled') {
      const gone = memory.events + memory.deadLetters;
      const counted = { ...memory, events: 0, bytes: 0, deadLetters: 0, purged: memory.purged + gone };
      return [[META_KEY, merge(stored, { ...counted, consent: 'enabled' })]];
    }
    return [[META_KEY, merge(stored, memory)], ...others];
  });
};
