import { isAhead, LONGEST_ANSWER_MS } from '../platform/deadline.ts';
import type { StoreKey } from '../platform/store.ts';
import { isCorrupt } from './corrupt.ts';
import { EVENT_VALUE } from './event-value.ts';
import { isJotting } from './jottings.ts';
import { type Batch, batchKey, bytesOf, CONTROL_RANGE, isBatch, type Meta } from './records.ts';
import { createRemoval, type Found, type RemovalOptions } from './removal.ts';

/** Down to this part of a cap, so that a full store is not scanned for every event. */
const HEADROOM = 0.95;

export interface CapsOptions extends RemovalOptions {
  now: () => number;
  maxEvents: number;
  maxBytes: number;
  maxAgeMs: number;
}

/** Keeps the outbox under its caps by count, bytes and age; every event given up is counted with a reason. */
export const createCaps = (options: CapsOptions) => {
  const { store, ledger, now, maxEvents, maxBytes, maxAgeMs } = options;
  const { candidates, remove } = createRemoval(options);
  /** The byte cap shrinks where the browser gives less (private mode). */
  let bytesCap = maxBytes;

  const isOver = (meta: Meta | undefined): meta is Meta =>
    meta !== undefined && (meta.events + meta.deadLetters > maxEvents || meta.bytes > bytesCap);

  let evicting: Promise<void> | undefined;
  const evict = async (): Promise<void> => {
    // More may be stored while the first are removed.
    for (let meta = ledger.known(); isOver(meta); meta = ledger.known()) {
      if ((await evictOnce(meta)) === 0) return;
    }
  };
  const evictOnce = async (meta: Meta): Promise<number> => {
    const found = (await candidates()).sort(
      (a, b) => EVENT_VALUE[a.event.type] - EVENT_VALUE[b.event.type] || a.event.time - b.event.time,
    );
    let events = meta.events + meta.deadLetters - maxEvents * HEADROOM;
    let bytes = meta.bytes - bytesCap * HEADROOM;
    const victims: Found[] = [];
    for (const candidate of found) {
      if (events <= 0 && bytes <= 0) break;
      victims.push(candidate);
      events -= 1;
      bytes -= bytesOf(candidate.event);
    }
    return remove(victims, 'evicted');
  };

  return {
    /** Evicts by value until the caps hold. */
    async enforce(): Promise<void> {
      if (!isOver(ledger.known())) return;
      evicting ??= evict().finally(() => {
        evicting = undefined;
      });
      await evicting;
    },

    /** The browser gives no more room: the cap becomes half of what is stored. False when nothing was freed. */
    async shrink(): Promise<boolean> {
      const found = await candidates();
      const impressions = found.filter(({ event }) => event.type === 'impression');
      const victims = (impressions.length > 0 ? impressions : found).slice(0, Math.ceil(found.length / 2));
      const half = (ledger.known()?.bytes ?? 0) / 2;
      if ((await remove(victims, 'evicted')) === 0) return false;
      bytesCap = Math.min(bytesCap, half);
      return true;
    },

    /** Gives up what is older than the age cap, whole batches too once no answer can come. */
    async expire(): Promise<void> {
      const limit = now() - maxAgeMs;
      const control = await store.entries<unknown>(CONTROL_RANGE);
      const isOld = ({ keys, held }: Batch) => [...keys, ...held].every(([, , time]) => time < limit);
      for (const [, record] of control) {
        if (!isBatch(record) || isAhead(record.until, now(), LONGEST_ANSWER_MS) || !isOld(record)) continue;
        await ledger.step([batchKey(record.id)], (meta, [stored]) => {
          if (!isBatch(stored) || stored.attempt !== record.attempt) return null;
          meta.batches += 1;
          return { writes: [[batchKey(record.id), undefined]], result: true };
        });
      }
      const found = await candidates();
      await remove(
        found.filter(({ event }) => event.time < limit),
        'expired',
      );
    },

    /** Forgets every event, batch and dead letter; the counters stay. */
    async purge(): Promise<void> {
      const control = await store.entries<unknown>(CONTROL_RANGE);
      const open = control.filter(([, record]) => isBatch(record) || isJotting(record)).map(([key]) => key);
      await ledger.step(open, (meta) => {
        meta.batches += 1;
        // They name users. The time that they stood for is given to nobody again.
        meta.lastKeys = [];
        meta.lastTime += 1;
        delete meta.beforeLeap;
        return { writes: open.map((key) => [key, undefined]), result: true };
      });
      await remove(await candidates(), 'purged');
    },

    /**
     * Puts records aside that nobody can use; events were captured once, and count as evicted. A batch has nothing of
     * its own: its events go on without it.
     */
    async quarantine(keys: StoreKey[]): Promise<void> {
      await ledger.step(keys, (meta, records) => {
        const writes = keys.flatMap((key, i): [StoreKey, unknown][] => {
          if (!isCorrupt([key, records[i]])) return [];
          const [range, , kind] = key as StoreKey[];
          meta.events -= Number(range === 'event');
          meta.evicted += Number(range === 'event');
          meta.batches += Number(kind === 'batch');
          const aside: StoreKey = ['quarantine', ...(key as (string | number)[])];
          return [
            [key, undefined],
            ...(kind === 'batch' ? [] : [[aside, records[i]] as [StoreKey, unknown]]),
          ];
        });
        return { writes, result: true };
      });
    },
  };
};
