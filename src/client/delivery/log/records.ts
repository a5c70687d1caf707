import type { BannerEvent } from '../../banner-event.ts';
import type { Choice } from '../../first/consent.ts';
import type { WaitReason } from '../../notice.ts';
import { isAhead, MAX_ANSWER_MS } from '../../platform/deadline.ts';
import type { KeyRange, StoreKey } from '../../platform/store.ts';

/**
 * What the log keeps on disk. Every key and every record names this version: another version of the SDK on the same
 * origin finds only its own.
 */
export const VERSION = 1;

/** The time and the page of the capture, and its number in that page. The time makes the store the queue. */
export type EventKey = [kind: 'event', version: typeof VERSION, time: number, tab: string, sequence: number];

/** A captured event. Nothing in it changes while it is part of a batch. */
export interface StoredEvent extends BannerEvent {
  v: typeof VERSION;
  appId: string;
  appVersion: string;
  /** How many answers named it as skipped. */
  attempts: number;
  /** Was sent once; its time must not change. */
  isFinal?: boolean;
  /** Why the server skipped it, until the host has decided about a correction. */
  skip?: string;
  /** Not before this time (Unix milliseconds), after a skip that was not corrected. */
  after?: number;
}

/** A stored event with its key. */
export interface QueuedEvent {
  key: EventKey;
  event: StoredEvent;
}

/** Events that are sent together: a frozen list, index i of the answer is item i of `keys`. */
export interface Batch {
  v: typeof VERSION;
  id: string;
  /** Of all its events. */
  userId: string;
  keys: EventKey[];
  /**
   * Until when an answer may still come, in Unix milliseconds; 0 where the batch is not being sent. It also names this sending,
   * so that the late answer of an earlier one is not taken for its own.
   */
  until: number;
  /** At least one sending ended without an answer. */
  doubt: boolean;
  /** How often it was halved, since it was refused as a whole. */
  splits: number;
}

export interface DeadRecord {
  v: typeof VERSION;
  event: StoredEvent;
  reason: string;
}

/** Marks that an event which counts once was captured; outlives the event. */
export interface CountedRecord {
  v: typeof VERSION;
  /** The event, by its `keyText`. */
  event: string;
  /** Unix milliseconds. */
  at: number;
}

export type Writes = [StoreKey, unknown][];

const rangeOf = (kind: string): KeyRange => ({ from: [kind, VERSION], to: [kind, VERSION, '\uffff'] });
/** The control record and all open batches. */
export const CONTROL_RANGE = rangeOf('control');
export const EVENT_RANGE = rangeOf('event');
export const DEAD_RANGE = rangeOf('dead');
export const COUNTED_RANGE = rangeOf('counted');

export const batchKey = (id: string): StoreKey => ['control', VERSION, 'batch', id];
export const countedKey = (name: string): StoreKey => ['counted', VERSION, name];
/** A dead letter lies under the position that it had in the queue. */
export const deadKey = ([, ...position]: EventKey): StoreKey => ['dead', ...position];
export const queueKey = ([, ...position]: EventKey): EventKey => ['event', ...position];
export const keyText = ([, , time, tab, sequence]: EventKey): string => `${time}-${tab}-${sequence}`;

/** Estimated size on disk; all members are text or numbers, so their JSON is near it. */
export const bytesOf = ({ bannerId, placementId, userId, appId, appVersion }: StoredEvent): number =>
  150 + bannerId.length + placementId.length + userId.length + appId.length + appVersion.length;

export const bannerEvent = ({ type, bannerId, placementId, userId, time }: BannerEvent): BannerEvent => ({
  type,
  bannerId,
  placementId,
  userId,
  time,
});

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Whether all texts of an event are there: in JavaScript a host's event may be anything. */
export const isWhole = (event: Partial<BannerEvent> | null | undefined): boolean =>
  isText(event?.type) && isText(event.bannerId) && isText(event.placementId) && isText(event.userId);

/** Unix milliseconds that a Date can hold, as it must to be named in a request. */
export const isTime = (time: unknown): boolean =>
  Number.isFinite(time) && Math.abs(time as number) <= 8.64e15;

/** A record of a newer version is never changed. */
export const isNewer = (record: unknown): boolean => Object(record).v > VERSION;

/** `undefined` for what is not an event of this version. */
export const readEvent = (record: unknown): StoredEvent | undefined => {
  const event = record as StoredEvent | null | undefined;
  const fits =
    event?.v === VERSION &&
    isWhole(event) &&
    isText(event.appId) &&
    isText(event.appVersion) &&
    isTime(event.time) &&
    Number.isFinite(event.attempts);
  return fits ? event : undefined;
};

export const isEventKey = (key: unknown): key is EventKey =>
  Array.isArray(key) &&
  key[1] === VERSION &&
  Number.isFinite(key[2]) &&
  isText(key[3]) &&
  Number.isFinite(key[4]);

export const isBatch = (record: unknown): record is Batch => {
  const batch = record as Batch | null | undefined;
  return (
    batch?.v === VERSION &&
    isText(batch.id) &&
    isText(batch.userId) &&
    Array.isArray(batch.keys) &&
    batch.keys.length > 0 &&
    batch.keys.every(isEventKey) &&
    Number.isFinite(batch.until) &&
    Number.isFinite(batch.splits)
  );
};

/**
 * `sending`: an answer may still come. `abandoned`: none can come any more, and its events are not known to be in doubt yet.
 * `ready`: it may be sent.
 */
export const batchState = ({ until, doubt }: Batch, now: number): 'sending' | 'abandoned' | 'ready' => {
  if (isAhead(until, now, MAX_ANSWER_MS)) return 'sending';
  return until > 0 && !doubt ? 'abandoned' : 'ready';
};

/** Whether the stored batch is still in this sending: no other tab has leased it since, and nothing has settled it. */
export const isInSending = (stored: unknown, { until }: Batch): stored is Batch =>
  isBatch(stored) && stored.until === until;

/** A record in the place of an event or a batch that cannot be used, and that no newer version has written. */
export const isCorrupt = ([key, record]: [StoreKey, unknown]): boolean => {
  const [range, , kind, id] = key as StoreKey[];
  if (record === undefined || isNewer(record)) return false;
  if (range === 'event') return readEvent(record) === undefined || !isEventKey(key);
  // Under another name than its own it would never be found again.
  return kind === 'batch' && (!isBatch(record) || record.id !== id);
};

/** Nothing may be sent before `until`. */
export interface Wait {
  until: number;
  reason: WaitReason;
}

/** Ways out of the log. What was captured is the sum of these and of what is still stored. */
export const TOTALS = ['delivered', 'discarded', 'evicted', 'expired', 'purged'] as const;
export type Total = (typeof TOTALS)[number];

/** Everything about the log that is not an event or a batch; read and written in the transactions that change them. */
export interface Control extends Record<Total, number> {
  v: typeof VERSION;
  /** Counts the changes. A decision on an older revision is made again. */
  revision: number;
  consent: Choice;
  /** When the user chose so, in Unix milliseconds; 0 where they never did. */
  chosenAt: number;
  /** The page that holds the lease. When the lease is over, another page may send as well. */
  sender: { tab: string; until: number } | null;
  wait: Wait & {
    /** Refusals in a row. */
    failures: number;
    /** Once already, by `online` or by the page being shown. */
    endedEarly: boolean;
  };
  /** Fingerprint of the key that the server refused. */
  refusedKey: string | null;
  /** Fingerprints of the latest events in batches. The service would count two events with the same fingerprint as one. */
  batched: string[];
}

export const CONTROL_KEY: StoreKey = ['control', VERSION, 'meta'];

export const noWait = (): Control['wait'] => ({
  until: 0,
  reason: 'backoff',
  failures: 0,
  endedEarly: false,
});

export const newControl = (consent: Choice): Control => ({
  v: VERSION,
  revision: 0,
  consent,
  chosenAt: 0,
  sender: null,
  wait: noWait(),
  refusedKey: null,
  batched: [],
  delivered: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
});

const isChoice = (value: unknown): value is Choice =>
  ['enabled', 'disabled', 'draining'].includes(value as string);

/** Reads a stored record member by member. A member that cannot be read is as in a new record with the choice `consent`. */
export const readControl = (record: unknown, consent: Choice): Control => {
  const control = newControl(consent);
  const stored: Partial<Control> = Object(record);
  const numbers = ['revision', 'chosenAt', ...TOTALS] as const;
  for (const name of numbers) if (Number.isFinite(stored[name])) control[name] = stored[name]!;
  if (isChoice(stored.consent)) control.consent = stored.consent;
  if (isText(stored.sender?.tab)) control.sender = stored.sender;
  if (Number.isFinite(stored.wait?.until) && Number.isFinite(stored.wait!.failures))
    control.wait = stored.wait!;
  if (isText(stored.refusedKey)) control.refusedKey = stored.refusedKey;
  if (Array.isArray(stored.batched)) control.batched = stored.batched;
  return control;
};
