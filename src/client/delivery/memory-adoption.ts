import type { Store, StoreKey } from '../platform/store.ts';
import { COUNTED_KEY, mergeCounted, readCounted } from './counted.ts';
import {
  bytesOf,
  type DeadRecord,
  type EventKey,
  isMeta,
  META_KEY,
  type Meta,
  type StoredEvent,
  SUMS,
} from './records.ts';

/**
 * In memory mode sequences begin here plus a random part: when the real store is back, no key of this tab meets a key
 * that is there already, and requests under way still find their records.
 */
export const MEMORY_SEQUENCE = 2 ** 40;

/** Remembered beside the slices: this memory was moved, up to this event. */
const movedName = ({ epoch, sequence }: Meta): string => `${epoch}:${sequence}`;

/** What an earlier move, whose answer was lost, has left to do: the events captured since, counted by themselves. */
const left = (stored: Meta, memory: Meta, kept: [StoreKey, unknown][]): [Meta, [StoreKey, unknown][]] => {
  const name = stored.slices.filter((slice) => slice.startsWith(`${memory.epoch}:`)).at(-1);
  if (name === undefined) return [memory, kept];
  const moved = Number(name.slice(memory.epoch.length + 1));
  const rest: Meta = { ...memory };
  for (const sum of SUMS) rest[sum] = 0;
  const since = kept.filter(([key]) => (key as EventKey)[3] > moved);
  for (const [[kind], record] of since as [EventKey | ['dead'], StoredEvent | DeadRecord][]) {
    rest.captured += 1;
    rest[kind === 'dead' ? 'deadLetters' : 'events'] += 1;
    rest.bytes += bytesOf('event' in record ? record.event : record);
  }
  return [rest, since];
};

const merge = (stored: Meta, memory: Meta, isOptIn: boolean): Meta => {
  const meta: Meta = { ...stored };
  for (const name of SUMS) meta[name] += memory[name];
  meta.lastTime = Math.max(stored.lastTime, memory.lastTime);
  meta.lastKeys = stored.lastTime > memory.lastTime ? stored.lastKeys : memory.lastKeys;
  meta.slices = [...stored.slices, ...memory.slices, movedName(memory)].slice(-16);
  if (isOptIn || memory.consent !== 'enabled') {
    meta.consent = memory.consent;
    meta.chosenAt = memory.chosenAt ?? 0;
  }
  if (memory.wait.until > stored.wait.until) meta.wait = memory.wait;
  meta.refusedKey ??= memory.refusedKey;
  return meta;
};

export interface MemoryAdoptionOptions {
  /** Jottings on the disk whose events are in memory: they go with it. */
  jotted: StoreKey[];
  /** No tab has told this one of an opt-out. */
  isAllowed: boolean;
}

/**
 * Moves what was kept in memory into the real store, in one transaction, counters included. It may be committed though
 * its answer is an error, so it is tried once more before the memory goes on, and what was moved is not moved again.
 */
export const adoptMemory = async (
  records: [StoreKey, unknown][],
  primary: Store,
  { jotted, isAllowed }: MemoryAdoptionOptions,
): Promise<void> => {
  const memory = records.map(([, record]) => record).find(isMeta);
  if (memory === undefined) return;
  const names = readCounted(records.find(([, record]) => Array.isArray(record))?.[1]);
  const kept = records.filter(([, record]) => record !== memory && !Array.isArray(record));
  const gone = jotted.map((key): [StoreKey, unknown] => [key, undefined]);
  const move = () =>
    primary.update<unknown>([META_KEY, COUNTED_KEY], ([stored, counted]) => {
      const count = [COUNTED_KEY, mergeCounted(readCounted(counted), names)] as [StoreKey, unknown];
      if (!isMeta(stored)) {
        const slices = [...memory.slices, movedName(memory)];
        return [[META_KEY, { ...memory, slices, sequence: 0, sender: null }], ...kept, ...gone, count];
      }
      const [meta, others] = left(stored, memory, kept);
      const isOptIn = isAllowed && (memory.chosenAt ?? 0) > (stored.chosenAt ?? 0);
      // Opted out, and not in again since: nothing of it may be kept or sent.
      if (stored.consent === 'disabled' && !isOptIn) {
        const purged = { ...meta, events: 0, bytes: 0, deadLetters: 0 };
        purged.purged += meta.events + meta.deadLetters;
        return [[META_KEY, merge(stored, { ...purged, consent: 'enabled' }, false)], ...gone];
      }
      return [[META_KEY, merge(stored, meta, isOptIn)], ...others, ...gone, count];
    });
  await move().catch(move);
};
