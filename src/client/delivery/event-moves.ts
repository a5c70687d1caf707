import type { BannerEvent } from '../banner-event.ts';
import type { DropReason } from '../notice.ts';
import type { StoreKey } from '../platform/store.ts';
import {
  bannerEvent,
  bytesOf,
  type DeadRecord,
  deadKey,
  type EventKey,
  type Kept,
  type Meta,
  type StoredEvent,
  VERSION,
  type WaitReason,
} from './records.ts';

/** What one settled batch came to. */
export interface Settled {
  delivered: BannerEvent[];
  skipped: { event: BannerEvent; reason: string; attempts: number }[];
  dropped: { event: BannerEvent; reason: DropReason; detail: string }[];
  /** Skipped events whose correction must be asked. */
  toCorrect: Kept[];
  inDoubt: BannerEvent[];
  /** Set when nothing may be sent before `until`. */
  waiting: { until: number; reason: WaitReason } | null;
  /** Keys that left the queue. */
  gone: EventKey[];
}

export const nothingSettled = (): Settled => ({
  delivered: [],
  skipped: [],
  dropped: [],
  toCorrect: [],
  inDoubt: [],
  waiting: null,
  gone: [],
});

export type Writes = [StoreKey, unknown][];

/** Moves an event to the dead letters; answers the two writes. */
export const bury = (meta: Meta, { key, event }: Kept, reason: string): Writes => {
  meta.events -= 1;
  meta.deadLetters += 1;
  const { skip: _asked, after: _wait, ...letter } = event;
  const record: DeadRecord = { v: VERSION, event: letter, reason };
  return [
    [key, undefined],
    [deadKey(key), record],
  ];
};

const forget = (meta: Meta, { key, event }: Kept): Writes => {
  meta.events -= 1;
  meta.bytes -= bytesOf(event);
  return [[key, undefined]];
};

export interface EventMovesOptions {
  now: () => number;
  maxAttempts: number;
  /** How long an uncorrected event waits before it goes out again. */
  maxWaitMs: number;
  /** Whether somebody can be asked for a correction. */
  corrects: boolean;
}

/** What can happen to one event of a settled batch. Each answers its writes, and changes `meta` and `settled` along. */
export const createEventMoves = ({ now, maxAttempts, maxWaitMs, corrects }: EventMovesOptions) => {
  /** Named by the server: one attempt older, and either asked about, sent again later, or dead. */
  const skip = (meta: Meta, settled: Settled, { key, event }: Kept, reason: string): Writes => {
    const attempts = event.attempts + 1;
    const older: StoredEvent = { ...event, attempts };
    settled.skipped.push({ event: bannerEvent(event), reason, attempts });
    if (attempts >= maxAttempts) {
      settled.gone.push(key);
      settled.dropped.push({ event: bannerEvent(event), reason: 'attempts', detail: reason });
      return bury(meta, { key, event: older }, reason);
    }
    if (!corrects) return [[key, { ...older, after: now() + maxWaitMs }]];
    const asked = { ...older, skip: reason };
    settled.toCorrect.push({ key, event: asked });
    return [[key, asked]];
  };

  const confirm = (meta: Meta, settled: Settled, kept: Kept): Writes => {
    meta.delivered += 1;
    settled.delivered.push(bannerEvent(kept.event));
    settled.gone.push(kept.key);
    return forget(meta, kept);
  };

  const giveUp = (meta: Meta, settled: Settled, kept: Kept, detail: string): Writes => {
    meta.discarded += 1;
    settled.dropped.push({ event: bannerEvent(kept.event), reason: 'discarded', detail });
    settled.gone.push(kept.key);
    return forget(meta, kept);
  };

  return { skip, confirm, giveUp };
};
