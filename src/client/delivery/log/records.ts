import { EVENT_TYPES, MAX_BUTTON_ID, mapKeys } from '../../../protocol/index.ts';
import type { BannerEvent, EventType } from '../../banner.ts';
import type { DeliveryOptions } from '../../options/option-schema.ts';
import type { ConsentRecord, ConsentState } from '../../permission.ts';
import type { Clock } from '../../platform/clock.ts';
import { isPendingDeadline, noPause, type Pause } from '../../platform/pauses.ts';
import type { KeyRange, StoreKey } from '../../platform/store.ts';
import { MAX_RESPONSE_MS, MAX_TIME_MS, SCHEMA_VERSION } from '../limits.ts';

/** Key of an event: capture time, page, and sequence number within the page. The time orders the queue. */
export type EventKey = [
  kind: 'event',
  version: typeof SCHEMA_VERSION,
  time: number,
  pageId: string,
  sequence: number,
];

export interface LogEvent extends BannerEvent {
  v: typeof SCHEMA_VERSION;
  appId: string;
  appVersion: string;
  /** Number of responses that rejected the event. */
  attempts: number;
  /** ID of the claim whose outcome is unknown. Its events are resent together, or in halves after an error of a proxy. */
  inDoubtClaimId?: string;
  /** Reason for the rejection, until the host has decided about a correction. */
  rejection?: string;
  /** Time until which one tab waits for its host's correction, in Unix milliseconds. */
  correctionLeaseUntil?: number;
  /** Earliest time to send, in Unix milliseconds: after an uncorrected rejection, or after the server failed on this event alone. */
  notBefore?: number;
}

export interface QueuedEvent {
  key: EventKey;
  event: LogEvent;
}

/**
 * Request in flight. Index i in the response refers to `keys[i]`. One record per claim, because exit handlers cannot read first.
 */
export interface Claim {
  v: typeof SCHEMA_VERSION;
  id: string;
  pageId: string;
  /** Deadline of the response, in Unix milliseconds. After it, the events are in doubt. */
  deadline: number;
  /**
   * End of the exclusive lease, in Unix milliseconds. No other page sends before it. Earlier than `deadline`, because this page may
   * be gone. An exit flush writes the current time, so that it delays no other page.
   */
  exclusiveUntil: number;
  keys: EventKey[];
}

export interface Claimed {
  claim: Claim;
  batch: QueuedEvent[];
  /** Set if the claim could not be written, because the disk was full. */
  isUnstored?: boolean;
}

export interface DeadRecord {
  v: typeof SCHEMA_VERSION;
  event: LogEvent;
  reason: string;
}

/** Deduplication mark. It outlives its event. */
export interface DedupRecord {
  v: typeof SCHEMA_VERSION;
  /** `formatKey` of the event. */
  event: string;
  /** Unix milliseconds. */
  at: number;
}

export type Writes = [StoreKey, unknown][];

export const toRange = (kind: string): KeyRange => ({
  from: [kind, SCHEMA_VERSION],
  to: [kind, SCHEMA_VERSION, '\uffff'],
});
export const STATE_AND_CLAIMS_RANGE = toRange('control');
export const CLAIM_RANGE: KeyRange = {
  from: ['control', SCHEMA_VERSION, 'claim'],
  to: ['control', SCHEMA_VERSION, 'claim', '\uffff'],
};
export const EVENT_RANGE = toRange('event');
export const DEDUP_RANGE = toRange('dedup');
export const claimKey = (id: string): StoreKey => ['control', SCHEMA_VERSION, 'claim', id];
export const dedupKey = (name: string): StoreKey => ['dedup', SCHEMA_VERSION, name];
export const formatKey = ([, , time, pageId, sequence]: EventKey): string => `${time}-${pageId}-${sequence}`;

/**
 * Returns the estimated size on disk, in bytes. It is close to the size of the JSON, because all members are strings or numbers.
 */
export const estimateBytes = ({
  bannerId,
  placementId,
  userId,
  appId,
  appVersion,
  buttonId = '',
}: LogEvent): number =>
  150 +
  buttonId.length +
  bannerId.length +
  placementId.length +
  userId.length +
  appId.length +
  appVersion.length;

/**
 * Value of an event type; the lowest is evicted first. A lost dismissal shows the banner again. Impressions are the most frequent
 * events.
 */
export const eventValue = (type: EventType): number => EVENT_TYPES.indexOf(type);

/** Returns the public part of an event, without an invalid button ID. */
export const bannerEvent = ({
  type,
  bannerId,
  placementId,
  userId,
  time,
  buttonId,
}: Omit<BannerEvent, 'buttonId'> & { buttonId?: unknown }): BannerEvent => ({
  type,
  bannerId,
  placementId,
  userId,
  time,
  ...(isButtonId(buttonId) && { buttonId }),
});

export const newId = ({ now }: Pick<Clock, 'now'>, random: () => number): string =>
  `${now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;

export const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns whether the service accepts a button ID. A JavaScript host may pass any value, such as the event of a listener. */
export const isButtonId = (id: unknown): id is string =>
  isText(id) && id !== '' && id.length <= MAX_BUTTON_ID;

/** Returns whether all required strings of an event are present. A JavaScript host may pass any value. */
export const hasRequiredFields = (
  event: Partial<Record<keyof BannerEvent, unknown>> | null | undefined,
): boolean =>
  isText(event?.type) && isText(event.bannerId) && isText(event.placementId) && isText(event.userId);

/** Returns whether a record is of a newer version. Such a record is never changed. */
export const isNewer = (record: unknown): boolean => Object(record).v > SCHEMA_VERSION;

/** Creates the error for a log that a newer version uses. Its records stay unchanged, and this page continues in memory. */
export const newerVersionError = () => new Error('a newer version owns the event log');

const isEvent = (record: unknown): record is LogEvent => {
  const event: Partial<LogEvent> = Object(record);
  return (
    event.v === SCHEMA_VERSION &&
    hasRequiredFields(event) &&
    isText(event.appId) &&
    isText(event.appVersion) &&
    Number.isFinite(event.time) &&
    Math.abs(event.time!) <= MAX_TIME_MS &&
    Number.isFinite(event.attempts)
  );
};

/** Returns the event; `undefined` if the record is not an event of this version. */
export const readEvent = (record: unknown): LogEvent | undefined => (isEvent(record) ? record : undefined);

/**
 * Returns whether two events may share a batch. Batches never mix users, app versions, delivery guarantees, or in-doubt events
 * with others.
 */
export const isSameGroup = ({ guarantee }: DeliveryOptions, a: LogEvent, b: LogEvent): boolean =>
  a.userId === b.userId &&
  a.appId === b.appId &&
  a.appVersion === b.appVersion &&
  a.inDoubtClaimId === b.inDoubtClaimId &&
  guarantee[a.type] === guarantee[b.type];

/** Returns whether `key` belongs to an event or a dead letter. Both keys have the same position and `formatKey`. */
export const isEventKey = (key: unknown): key is EventKey =>
  Array.isArray(key) &&
  key[1] === SCHEMA_VERSION &&
  Number.isFinite(key[2]) &&
  isText(key[3]) &&
  Number.isFinite(key[4]);

export const isClaim = (record: unknown): record is Claim => {
  const claim: Partial<Claim> = Object(record);
  return (
    claim.v === SCHEMA_VERSION &&
    isText(claim.id) &&
    isText(claim.pageId) &&
    Number.isFinite(claim.deadline) &&
    Number.isFinite(claim.exclusiveUntil) &&
    Array.isArray(claim.keys) &&
    claim.keys.every(isEventKey)
  );
};

/** Returns whether a response to the claim's request may still arrive. */
export const isLive = (claim: Claim, now: number): boolean =>
  isPendingDeadline(claim.deadline, now, MAX_RESPONSE_MS);

/** Returns whether the claim's page holds the exclusive lease to send. */
export const isExclusive = (claim: Claim, now: number): boolean =>
  isLive(claim, now) && isPendingDeadline(claim.exclusiveUntil, now, MAX_RESPONSE_MS);

/** Returns whether the record of an event or a claim is damaged, and not of a newer version. */
export const isCorrupt = ([key, record]: [StoreKey, unknown]): boolean => {
  const [range, , kind, id] = [key].flat();
  if (record === undefined || isNewer(record)) return false;
  if (range === 'event') return readEvent(record) === undefined || !isEventKey(key);
  // A claim stored under another ID would never be found again.
  return kind === 'claim' && (!isClaim(record) || record.id !== id);
};

/** Counters of events that left the log, by reason. Together with the stored events they equal the captured ones. */
export const TOTALS = ['delivered', 'discarded', 'evicted', 'expired', 'purged'] as const;
export type Total = (typeof TOTALS)[number];

/** Log state: the totals, the user's choice and the pause. Each step reads and writes it in its transaction. */
export interface LogState extends ConsentRecord, Record<Total, number> {
  v: typeof SCHEMA_VERSION;
  /** Pause of all tabs. */
  pause: Pause;
  rejectedKeyFingerprint: string | null;
  /** Time when a page first found expired records, in Unix milliseconds; 0 if there are none. */
  expiredFoundAt: number;
  /** Time of the last scan of a long backlog, in Unix milliseconds, and number of events found; 0 if there was no scan. */
  scannedAt: number;
  scannedEvents: number;
}

export const LOG_STATE_KEY: StoreKey = ['control', SCHEMA_VERSION, 'meta'];

/** Keys of the log states of this and later versions. */
export const LOG_STATE_VERSIONS_RANGE: KeyRange = { from: LOG_STATE_KEY, to: ['control', '\uffff'] };

export const isLogStateKey = (key: StoreKey): boolean => String(key) === String(LOG_STATE_KEY);

const NUMBERS = ['decidedAt', 'expiredFoundAt', 'scannedAt', 'scannedEvents', ...TOTALS] as const;

export const newLogState = (consent: ConsentState): LogState => ({
  v: SCHEMA_VERSION,
  consent,
  pause: noPause(),
  rejectedKeyFingerprint: null,
  ...mapKeys(NUMBERS, () => 0),
});

const CONSENT_STATES: unknown[] = Object.keys({ enabled: 0, keep: 0, send: 0, disabled: 0 } satisfies Record<
  ConsentState,
  0
>);

const isConsentState = (value: unknown): value is ConsentState => CONSENT_STATES.includes(value);

/** Returns whether a stored choice is a known opt-out. */
export const isOptOut = (choice: unknown): boolean => choice !== 'enabled' && isConsentState(choice);

/** Reads a stored record member by member. Unreadable members get the value of a new record with the choice `consent`. */
export const readLogState = (record: unknown, consent: ConsentState): LogState => {
  const state = newLogState(consent);
  const stored: Partial<LogState> = Object(record);
  for (const name of NUMBERS) if (Number.isFinite(stored[name])) state[name] = stored[name]!;
  if (isConsentState(stored.consent)) state.consent = stored.consent;
  if (Number.isFinite(stored.pause?.until) && Number.isFinite(stored.pause!.failures))
    state.pause = stored.pause!;
  if (isText(stored.rejectedKeyFingerprint)) state.rejectedKeyFingerprint = stored.rejectedKeyFingerprint;
  return state;
};
