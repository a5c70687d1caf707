import type { Store, StoreKey } from '../platform/store.ts';
import { readAll } from './read-all.ts';
import {
  bytesOf,
  DEAD_RANGE,
  type DeadRecord,
  EVENT_RANGE,
  type EventKey,
  isMeta,
  META_KEY,
  type Meta,
  newMeta,
  readEvent,
} from './records.ts';

/**
 * Counts the records anew where the counters cannot be read. What was delivered or given up before is not known any
 * more; what is stored is, and an opt-out that can still be read stays one.
 */
export const rebuildMeta = async (store: Store, epoch: string): Promise<void> => {
  const meta = newMeta(epoch, 0);
  const count = (key: StoreKey, record: unknown): boolean => {
    const [, , time, sequence] = key as EventKey;
    meta.sequence = Math.max(meta.sequence, sequence);
    meta.lastTime = Math.max(meta.lastTime, time);
    const event = readEvent(record);
    if (event === 'foreign') return false;
    if (event !== 'corrupt') meta.bytes += bytesOf(event);
    meta.captured += 1;
    return true;
  };
  for (const [key, record] of await readAll(store, EVENT_RANGE)) if (count(key, record)) meta.events += 1;
  for (const [key, record] of await readAll(store, DEAD_RANGE)) {
    if (count(key, (record as DeadRecord | null)?.event)) meta.deadLetters += 1;
  }
  meta.lastTime += 1;
  await store.update<unknown>([META_KEY], ([stored]) => {
    if (isMeta(stored)) return [];
    const consent = (stored as Partial<Meta> | null | undefined)?.consent;
    if (consent === 'disabled' || consent === 'draining') meta.consent = consent;
    return [[META_KEY, meta]];
  });
};
