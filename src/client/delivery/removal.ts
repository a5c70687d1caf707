import type { BannerEvent } from '../banner-event.ts';
import type { DropReason } from '../notice.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import type { Ledger } from './ledger.ts';
import {
  bannerEvent,
  bytesOf,
  CONTROL_RANGE,
  DEAD_RANGE,
  type DeadRecord,
  EVENT_RANGE,
  type EventKey,
  isBatch,
  keyText,
  type Meta,
  readEvent,
  type StoredEvent,
} from './records.ts';

/** Records in one transaction. */
const SLICE = 200;

export type Dropped = { event: BannerEvent; reason: DropReason };

/** An event or a dead letter that may be given up. */
export interface Found {
  key: StoreKey;
  event: StoredEvent;
  isDead: boolean;
}

type Reason = 'evicted' | 'expired' | 'purged';

export interface RemovalOptions {
  store: Store;
  ledger: Ledger;
  onGone: (keys: EventKey[], dropped: Dropped[]) => void;
}

/** Finds what may be given up, and gives it up, counted with a reason. */
export const createRemoval = ({ store, ledger, onGone }: RemovalOptions) => {
  const eventOf = (key: StoreKey, record: unknown): Found | undefined => {
    const isDead = (key as string[])[0] === 'dead';
    const event = readEvent(isDead ? (record as DeadRecord | undefined)?.event : record);
    return typeof event === 'string' ? undefined : { key, event, isDead };
  };

  /** All events and dead letters that may go: not those of open batches, whose answer may still come. */
  const candidates = async (): Promise<Found[]> => {
    const control = await store.entries<unknown>(CONTROL_RANGE);
    const open = new Set(
      control
        .map(([, record]) => record)
        .filter(isBatch)
        .flatMap(({ keys, held }) => [...keys, ...held].map(keyText)),
    );
    const found: Found[] = [];
    for (const range of [EVENT_RANGE, DEAD_RANGE]) {
      let from = range.from!;
      for (;;) {
        const records = await store.entries<unknown>({ ...range, from, limit: SLICE });
        for (const [key, record] of records) {
          const candidate = eventOf(key, record);
          if (candidate !== undefined && !open.has(keyText(key as EventKey))) found.push(candidate);
        }
        if (records.length < SLICE) break;
        from = [...(records.at(-1)![0] as (string | number)[]), 0];
      }
    }
    return found;
  };

  const remove = async (victims: Found[], reason: Reason): Promise<number> => {
    let removed = 0;
    for (let from = 0; from < victims.length; from += SLICE) {
      const slice = victims.slice(from, from + SLICE);
      const gone = await ledger.step(
        slice.map(({ key }) => key),
        (meta, records) => {
          const there = slice.filter(({ key }, i) => eventOf(key, records[i]) !== undefined);
          for (const { event, isDead } of there) count(meta, event, isDead, reason);
          return { writes: there.map(({ key }) => [key, undefined]), result: there };
        },
      );
      if (gone === undefined) break;
      removed += gone.length;
      onGone(
        gone.map(({ key }) => key as EventKey),
        gone.map(({ event }) => ({ event: bannerEvent(event), reason })),
      );
    }
    return removed;
  };

  return { candidates, remove };
};

const count = (meta: Meta, event: StoredEvent, isDead: boolean, reason: Reason): void => {
  if (isDead) meta.deadLetters -= 1;
  else meta.events -= 1;
  meta.bytes -= bytesOf(event);
  meta[reason] += 1;
};
