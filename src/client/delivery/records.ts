import type { BannerEvent, EventType } from '../banner-event.ts';
import type { KeyRange, StoreKey } from '../platform/store.ts';

/**
 * What the outbox keeps on disk. Every key and every record names this version: another version of the SDK on the
 * same origin finds only its own.
 */
export const VERSION = 1;

export type EventKey = [kind: 'event', version: typeof VERSION, time: number, sequence: number];

/** A captured event. Nothing in it changes while it is part of a batch. */
export interface StoredEvent {
  v: typeof VERSION;
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  time: number;
  appId: string;
  appVersion: string;
  /** How many answers named it as skipped. */
  attempts: number;
  /** Why the server skipped it, until the host's correction was asked. */
  skip?: string;
  /** Not before this time (Unix milliseconds), after a skip that nobody corrected. */
  after?: number;
}

/** Events that are sent together: a frozen list, index i of the answer is item i of `keys`. */
export interface Batch {
  v: typeof VERSION;
  id: string;
  keys: EventKey[];
  /** Part of the batch, but left out of the request while it is searched for the event that the server refuses. */
  held: EventKey[];
  /** One of these made an earlier request fail. */
  suspects: EventKey[];
  /** How many events had been delivered, in all, when that search began. */
  searchedAt?: number;
  /** The exact text that was sent and will be sent again. */
  body: string;
  /** `sent` and past `until`: nobody read the answer, so it is in doubt. */
  state: 'ready' | 'sent';
  /** Names one sending, so that a late answer is told from the current one. */
  attempt: string;
  /** Unix milliseconds until which an answer may still come. */
  until: number;
  /** At least one sending ended without an answer. */
  doubt: boolean;
}

/** A stored event with its key. */
export interface Kept {
  key: EventKey;
  event: StoredEvent;
}

export interface DeadRecord {
  v: typeof VERSION;
  event: StoredEvent;
  reason: string;
}

export type WaitReason = 'backoff' | 'rate-limit' | 'offline' | 'unauthorized' | 'not-found';

/** Everything that must agree with the records; written in the transaction that changes them. */
export interface Meta {
  v: typeof VERSION;
  /** New with every beginning: a tab that knew another one sees that the store was wiped. */
  epoch: string;
  sequence: number;
  /** The last time given to an event, and the natural keys that have it. */
  lastTime: number;
  lastKeys: string[];
  /** Both as they were before the clock last leapt forwards; it may have been wrong, and come back. */
  beforeLeap?: { time: number; keys: string[] };
  /** Slices of captures that were stored lately, so that none is stored again after a lost connection. */
  slices: string[];
  /** Counts every change of the open batches: who decided on an older state decides again. */
  batches: number;
  /** Stored events, batched or not, without dead letters. */
  events: number;
  /** Bytes of stored events and dead letters, estimated. */
  bytes: number;
  captured: number;
  delivered: number;
  deadLetters: number;
  discarded: number;
  evicted: number;
  expired: number;
  purged: number;
  /** `draining`: opted out, what is queued is still sent. */
  consent: 'enabled' | 'disabled' | 'draining';
  /** When the user chose so, in Unix milliseconds; without it nobody did, or an older version did not say. */
  chosenAt?: number;
  sender: { tab: string; until: number } | null;
  wait: {
    until: number;
    reason: WaitReason;
    /** Refusals in a row. */
    failures: number;
    /** Ended early once already, by `online` or by the page being shown. */
    eased: boolean;
  };
  /** Fingerprint of the key that the server refused. */
  refusedKey: string | null;
}

export const META_KEY: StoreKey = ['control', VERSION, 'meta'];
export const batchKey = (id: string): StoreKey => ['control', VERSION, 'batch', id];
export const deadKey = ([, , time, sequence]: EventKey): StoreKey => ['dead', VERSION, time, sequence];

const LAST = '\uffff';
/** The meta record and all open batches. */
export const CONTROL_RANGE: KeyRange = { from: ['control', VERSION], to: ['control', VERSION, LAST] };
export const EVENT_RANGE: KeyRange = { from: ['event', VERSION], to: ['event', VERSION, LAST] };
export const DEAD_RANGE: KeyRange = { from: ['dead', VERSION], to: ['dead', VERSION, LAST] };

export const keyText = ([, , time, sequence]: EventKey): string => `${time}-${sequence}`;

export const newMeta = (epoch: string, sequence: number): Meta => ({
  v: VERSION,
  epoch,
  sequence,
  lastTime: 0,
  lastKeys: [],
  slices: [],
  batches: 0,
  events: 0,
  bytes: 0,
  captured: 0,
  delivered: 0,
  deadLetters: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
  consent: 'enabled',
  sender: null,
  wait: { until: 0, reason: 'backoff', failures: 0, eased: false },
  refusedKey: null,
});

/** Estimated size on disk; all members are text or numbers, so their JSON is near it. */
export const bytesOf = (event: StoredEvent): number =>
  120 +
  event.bannerId.length +
  event.placementId.length +
  event.userId.length +
  event.appId.length +
  event.appVersion.length;

export const bannerEvent = ({ type, bannerId, placementId, userId, time }: StoredEvent): BannerEvent => ({
  type,
  bannerId,
  placementId,
  userId,
  time,
});

export const isText = (value: unknown): boolean => typeof value === 'string';

/** Unix milliseconds that a Date can hold, as it must to be named in a request. */
export const isTime = (time: unknown): boolean =>
  Number.isFinite(time) && Math.abs(time as number) <= 8.64e15;

/** Says what happened to what, and for whom: in JavaScript a host's event may be anything. */
export const isWhole = (event: Partial<BannerEvent> | null | undefined): boolean =>
  [event?.type, event?.bannerId, event?.placementId, event?.userId].every(isText);

/** `foreign` was written by a newer version and is left alone; `corrupt` can be read by nobody. */
export const readEvent = (record: unknown): StoredEvent | 'foreign' | 'corrupt' => {
  const event = record as StoredEvent | null | undefined;
  if (typeof event?.v === 'number' && event.v > VERSION) return 'foreign';
  const fits =
    event?.v === VERSION &&
    isWhole(event) &&
    isText(event.appId) &&
    isText(event.appVersion) &&
    isTime(event.time) &&
    Number.isFinite(event.attempts);
  return fits ? event : 'corrupt';
};

/** Numbers of `Meta` that add up where two outboxes become one. */
export const SUMS = [
  'batches',
  'events',
  'bytes',
  'captured',
  'delivered',
  'deadLetters',
  'discarded',
  'evicted',
  'expired',
  'purged',
] as const;
const COUNTERS = ['sequence', 'lastTime', ...SUMS] as const;

export const isMeta = (record: unknown): record is Meta => {
  const meta = record as Meta | null | undefined;
  return (
    meta?.v === VERSION &&
    COUNTERS.every((name) => Number.isFinite(meta[name])) &&
    (meta.beforeLeap === undefined || Number.isFinite(meta.beforeLeap?.time)) &&
    [meta.slices, meta.lastKeys, meta.beforeLeap?.keys ?? []].every(
      (names) => Array.isArray(names) && names.every(isText),
    ) &&
    Number.isFinite(meta.wait?.until) &&
    ['enabled', 'disabled', 'draining'].includes(meta.consent) &&
    (meta.sender === null || Number.isFinite(meta.sender?.until))
  );
};

export const isEventKey = (key: unknown): key is EventKey =>
  Array.isArray(key) &&
  key[0] === 'event' &&
  key[1] === VERSION &&
  Number.isFinite(key[2]) &&
  Number.isFinite(key[3]);

const areEventKeys = (keys: unknown): boolean => Array.isArray(keys) && keys.every(isEventKey);

export const isBatch = (record: unknown): record is Batch => {
  const batch = record as Batch | null | undefined;
  return (
    batch?.v === VERSION &&
    [batch.id, batch.body, batch.attempt].every(isText) &&
    [batch.keys, batch.held, batch.suspects].every(areEventKeys) &&
    batch.keys.length > 0 &&
    Number.isFinite(batch.until)
  );
};
