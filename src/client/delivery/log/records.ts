import type { BannerEvent, EventType } from '../../banner.ts';
import type { Choice, ChoiceRecord } from '../../consent/consent.ts';
import type { KeyRange, StoreKey } from '../../platform/store.ts';
import { isAhead, noPause, type Pause } from '../../platform/waits.ts';
import { MAX_ANSWER_MS, VERSION } from '../limits.ts';

/** The time and the page of the capture, and its number in that page. The time makes the store the queue. */
export type EventKey = [kind: 'event', version: typeof VERSION, time: number, tab: string, sequence: number];

/** A captured event. */
export interface StoredEvent extends BannerEvent {
  v: typeof VERSION;
  appId: string;
  appVersion: string;
  /** How many answers named it as skipped. */
  attempts: number;
  /** The claim of the sending whose answer was never read. Events with the same one go out together again. */
  doubt?: string;
  /** Why the server skipped it, until the host has decided about a correction. */
  skip?: string;
  /** The host is asked for a correction, in one tab, until this time at the latest (Unix milliseconds). */
  asked?: number;
  /** Not before this time (Unix milliseconds): after a skip that was not corrected, or where the server failed at this event alone. */
  after?: number;
}

/** A stored event with its key. */
export interface QueuedEvent {
  key: EventKey;
  event: StoredEvent;
}

/**
 * A request under way, in the order of its events: index i of the answer is item i of `keys`. Each claim is a record of its own: a page that
 * leaves has no time to read before it writes.
 */
export interface Claim {
  v: typeof VERSION;
  id: string;
  /** The page that made it. */
  tab: string;
  /** Until when an answer may come, in Unix milliseconds. After that its events are in doubt. */
  until: number;
  /**
   * Until then no other page sends anything, in Unix milliseconds. Shorter than `until`, since this page may be gone. A page that leaves
   * writes the present time, and so holds up nobody.
   */
  aloneUntil: number;
  keys: EventKey[];
}

/** A batch, and the claim on it. */
export interface Claimed {
  claim: Claim;
  batch: QueuedEvent[];
  /** The disk was too full for the claim. */
  isUnwritten?: boolean;
}

export interface DeadRecord {
  v: typeof VERSION;
  event: StoredEvent;
  reason: string;
}

/** Marks that an event was captured which counts once. The mark outlives the event. */
export interface CountedRecord {
  v: typeof VERSION;
  /** The event, by its `keyText`. */
  event: string;
  /** Unix milliseconds. */
  at: number;
}

export type Writes = [StoreKey, unknown][];

export const rangeOf = (kind: string): KeyRange => ({ from: [kind, VERSION], to: [kind, VERSION, '\uffff'] });
/** The keys of the control record and of the claims. */
export const CONTROL_RANGE = rangeOf('control');
export const CLAIM_RANGE: KeyRange = {
  from: ['control', VERSION, 'claim'],
  to: ['control', VERSION, 'claim', '\uffff'],
};
export const EVENT_RANGE = rangeOf('event');
export const COUNTED_RANGE = rangeOf('counted');
export const claimKey = (id: string): StoreKey => ['control', VERSION, 'claim', id];
export const countedKey = (name: string): StoreKey => ['counted', VERSION, name];
export const keyText = ([, , time, tab, sequence]: EventKey): string => `${time}-${tab}-${sequence}`;

/** Estimated size on disk; all members are text or numbers, so their JSON is near it. */
export const bytesOf = ({ bannerId, placementId, userId, appId, appVersion }: StoredEvent): number =>
  150 + bannerId.length + placementId.length + userId.length + appId.length + appVersion.length;

/** What an event is worth if not all can be kept: a lost dismissal shows the banner again, impressions are many. */
export const EVENT_VALUE: Record<EventType, number> = { impression: 0, click: 1, dismiss: 2 };

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
export const isTime = (time: unknown): boolean => typeof time === 'number' && Math.abs(time) <= 8.64e15;

/** A record of a newer version is never changed. */
export const isNewer = (record: unknown): boolean => Object(record).v > VERSION;

/** A newer version has the log now: nothing of its record is changed, and this page goes on in memory. */
export const newerVersion = () => new Error('a newer version keeps its events here');

const isEvent = (record: unknown): record is StoredEvent => {
  const event: Partial<StoredEvent> = Object(record);
  return (
    event.v === VERSION &&
    isWhole(event) &&
    isText(event.appId) &&
    isText(event.appVersion) &&
    isTime(event.time) &&
    Number.isFinite(event.attempts)
  );
};

/** `undefined` for what is not an event of this version. */
export const readEvent = (record: unknown): StoredEvent | undefined => (isEvent(record) ? record : undefined);

/** Whether it is the key of an event, in the queue or among the dead letters: both have a position, and `keyText` is the same for both. */
export const isEventKey = (key: unknown): key is EventKey =>
  Array.isArray(key) &&
  key[1] === VERSION &&
  Number.isFinite(key[2]) &&
  isText(key[3]) &&
  Number.isFinite(key[4]);

export const isClaim = (record: unknown): record is Claim => {
  const claim: Partial<Claim> = Object(record);
  return (
    claim.v === VERSION &&
    isText(claim.id) &&
    isText(claim.tab) &&
    Number.isFinite(claim.until) &&
    Number.isFinite(claim.aloneUntil) &&
    Array.isArray(claim.keys) &&
    claim.keys.every(isEventKey)
  );
};

/** Whether an answer to the claim's request may still come. */
export const isLive = (claim: Claim, now: number): boolean => isAhead(claim.until, now, MAX_ANSWER_MS);

/** Whether the other pages have to leave the sending to the page of this claim. */
export const isAlone = (claim: Claim, now: number): boolean =>
  isLive(claim, now) && isAhead(claim.aloneUntil, now, MAX_ANSWER_MS);

/** A record in the place of an event or a claim that cannot be used, and that no newer version has written. */
export const isCorrupt = ([key, record]: [StoreKey, unknown]): boolean => {
  const [range, , kind, id] = [key].flat();
  if (record === undefined || isNewer(record)) return false;
  if (range === 'event') return readEvent(record) === undefined || !isEventKey(key);
  // Under another name than its own it would never be found again.
  return kind === 'claim' && (!isClaim(record) || record.id !== id);
};

/** The counts of events that have left the log, by the way they left. These and the stored events add up to what was captured. */
export const TOTALS = ['delivered', 'discarded', 'evicted', 'expired', 'purged'] as const;
export type Total = (typeof TOTALS)[number];

/** The control record: the totals, the user's choice and the pause. Each step reads and writes it in its transaction. */
export interface Control extends ChoiceRecord, Record<Total, number> {
  v: typeof VERSION;
  /** No tab sends before this pause is over. */
  wait: Pause;
  /** Fingerprint of the key that the server refused. */
  refusedKey: string | null;
  /** When a page first found something that is too old, in Unix milliseconds; 0 where nothing is too old. */
  oldSince: number;
  /** When a page last looked at all of a long backlog, in Unix milliseconds, and how many events it found; 0 if none has. */
  tidiedAt: number;
  tidied: number;
}

export const CONTROL_KEY: StoreKey = ['control', VERSION, 'meta'];

/** The keys of the control record, and of those that later versions write. */
export const CONTROLS_RANGE: KeyRange = { from: CONTROL_KEY, to: ['control', '\uffff'] };

export const isControlKey = (key: StoreKey): boolean => String(key) === String(CONTROL_KEY);

export const newControl = (consent: Choice): Control => ({
  v: VERSION,
  consent,
  chosenAt: 0,
  wait: noPause(),
  refusedKey: null,
  oldSince: 0,
  tidiedAt: 0,
  tidied: 0,
  delivered: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
});

const CHOICES: unknown[] = ['enabled', 'draining', 'keeping', 'disabled'] satisfies Choice[];

/** Whether a record's choice is one of ours, and an opt-out. */
export const isOptOut = (choice: unknown): boolean => choice !== 'enabled' && CHOICES.includes(choice);

/** Reads a stored record member by member. A member that cannot be read is as in a new record with the choice `consent`. */
export const readControl = (record: unknown, consent: Choice): Control => {
  const control = newControl(consent);
  const stored: Partial<Control> = Object(record);
  const numbers = ['chosenAt', 'oldSince', 'tidiedAt', 'tidied', ...TOTALS] as const;
  for (const name of numbers) if (Number.isFinite(stored[name])) control[name] = stored[name]!;
  if (CHOICES.includes(stored.consent)) control.consent = stored.consent!;
  if (Number.isFinite(stored.wait?.until) && Number.isFinite(stored.wait!.failures))
    control.wait = stored.wait!;
  if (isText(stored.refusedKey)) control.refusedKey = stored.refusedKey;
  return control;
};
