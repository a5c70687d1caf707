import { utf8Bytes } from '../../../protocol/index.ts';
import type { DeliveryOptions } from '../../options/option-schema.ts';
import { isPaused, isPendingDeadline, type Pause } from '../../platform/pauses.ts';
import { compareKeys, type StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import { MAX_DELAY_MS, MAX_RESPONSE_MS, SCHEMA_VERSION } from '../limits.ts';
import type { Log } from '../log/log.ts';
import { isQuotaError } from '../log/log-store.ts';
import {
  type Claim,
  type Claimed,
  claimKey,
  EVENT_RANGE,
  formatKey,
  isExclusive,
  isLive,
  type LogEvent,
  type LogState,
  type QueuedEvent,
  readEvent,
  type Writes,
} from '../log/records.ts';
import { trackBody, withUserToken } from './send.ts';

/** Size of the smallest event, in bytes. If less space is left, the plan is full. */
const MIN_EVENT_BYTES = 70;

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

export const byTime = ({ key: a }: QueuedEvent, { key: b }: QueuedEvent): number => compareKeys(a, b);

/** Returns the size that an event adds to a body, including its comma, in bytes. */
const eventBytes = (item: QueuedEvent): number =>
  utf8Bytes(trackBody([item, item])) - utf8Bytes(trackBody([item]));

/**
 * Divides events into batches of at most `maxBatchSize`, in the order of `events`, until the bodies with their user tokens reach
 * `maxBytes` in total. Sorts each batch by time.
 */
export const planBatches = (
  events: QueuedEvent[],
  maxBytes: number,
  maxBatchSize: number,
  { options, userTokens }: Pick<DeliveryContext, 'options' | 'userTokens'>,
): QueuedEvent[][] => {
  const batches: QueuedEvent[][] = [];
  let left = maxBytes;
  for (const item of events) {
    if (left < MIN_EVENT_BYTES) break;
    const batch = batches.find(
      (kept) => kept.length < maxBatchSize && isSameGroup(options, kept[0]!.event, item.event),
    );
    const cost = batch
      ? eventBytes(item)
      : utf8Bytes(withUserToken(trackBody([item]), userTokens.current(item.event.userId)));
    if (cost > left) continue;
    left -= cost;
    if (batch) batch.push(item);
    else batches.push([item]);
  }
  return batches.map((kept) => kept.sort(byTime));
};

/** Maximum size of a body, in bytes, so that one batch fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;
/** Maximum number of events to read to fill a batch. */
const MAX_READ = 1_000;

/** Reason that this page may not send. */
type Block =
  /** No consent, or the page is stopped or prerendered. */
  | { type: 'disabled' }
  /** Pause of all tabs. */
  | { type: 'paused'; pause: Pause }
  /** Another page sends. `until` is in Unix milliseconds. */
  | { type: 'locked'; until: number };

/** Returns the reason that this page may not send now, from the log state and its claims; `null` if the page may send. */
export const findBlock = (
  { clock, canSend }: Pick<DeliveryContext, 'clock' | 'canSend'>,
  { pause }: LogState,
  claims: Claim[],
): Block | null => {
  const now = clock.now();
  if (!canSend()) return { type: 'disabled' };
  if (isPaused(pause, now)) return { type: 'paused', pause: pause };
  const lease = claims.find((each) => isExclusive(each, now));
  return lease ? { type: 'locked', until: Math.min(lease.deadline, lease.exclusiveUntil) } : null;
};

/** Next step of the sender. */
export type NextAction =
  | Block
  | { type: 'send'; batch: QueuedEvent[] }
  /** No response to this request can arrive anymore, so its events are in doubt. */
  | { type: 'expired'; claim: Claim }
  /** Request a token of this user from the host. */
  | { type: 'token'; userId: string }
  /** Let the host correct these events. */
  | { type: 'correct'; rejected: QueuedEvent[] }
  /** Nothing to send now. Check again at `due` (Unix milliseconds), or on the next event. */
  | { type: 'idle'; due: number };

/**
 * Finds the next step, from the head of the queue. `all` includes events that are not due yet. `isDegraded`: the disk is full or
 * the trouble chunk cannot be loaded, so steps that need either wait, and expired claims keep their events.
 */
export const createPlanner = (context: DeliveryContext, log: Log, limit: () => number) => {
  const { clock, options, userTokens, isWorker, trouble } = context;
  const { now } = clock;
  const { maxDelayMs } = options;

  /** Reads until a batch is full or the queue ends. Events that may be sent only once need a written claim. */
  const scan = async (claimed: Set<string>, isDegraded: boolean) => {
    const unsent: QueuedEvent[] = [];
    const rejected: QueuedEvent[] = [];
    const corrupt: StoreKey[] = [];
    let due = Number.POSITIVE_INFINITY;
    let read = 0;
    let same = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      read += 1;
      if (event === undefined) corrupt.push(key);
      else if (claimed.has(formatKey(key))) continue;
      else if (isPendingDeadline(event.correctionLeaseUntil ?? 0, now(), MAX_RESPONSE_MS))
        due = Math.min(due, event.correctionLeaseUntil!);
      else if (event.rejection !== undefined) rejected.push({ key, event });
      else if (isDegraded && options.guarantee[event.type] !== 'at-least-once') continue;
      else if (isPendingDeadline(event.notBefore ?? 0, now(), MAX_DELAY_MS))
        due = Math.min(due, event.notBefore!);
      else if (userTokens.isPaused(event.userId)) due = Math.min(due, userTokens.pausedUntil(event.userId));
      else {
        unsent.push({ key, event });
        same += Number(isSameGroup(options, unsent[0]!.event, event));
      }
      if (same >= limit() || (read >= MAX_READ && same > 0)) break;
    }
    return { waiting: unsent, rejected, corrupt, due };
  };

  const remove = async (corrupt: StoreKey[], isDegraded: boolean): Promise<void> => {
    if (corrupt.length > 0 && !isDegraded) await (await trouble()).removeCorrupt(corrupt);
  };

  return async (all: boolean, isDegraded: boolean): Promise<NextAction> => {
    const { state, claims, corrupt } = await log.snapshot();
    await remove(corrupt, isDegraded);
    const block = findBlock(context, state, claims);
    if (block) return block;
    const live = claims.filter((each) => isLive(each, now()));
    const expired = claims.find((each) => !live.includes(each));
    if (expired && !isDegraded) return { type: 'expired', claim: expired };

    const found = await scan(new Set(claims.flatMap(({ keys }) => keys.map(formatKey))), isDegraded);
    await remove(found.corrupt, isDegraded);
    if (!isWorker && !isDegraded && found.rejected.length > 0)
      return { type: 'correct', rejected: found.rejected };
    const [oldest] = found.waiting;
    if (!oldest) return { type: 'idle', due: Math.min(found.due, ...live.map(({ deadline }) => deadline)) };
    const { userId, time } = oldest.event;
    // A time far in the future means that the clock was set back. Such an event is due.
    const isOld = Math.abs(now() - time) >= maxDelayMs;
    // After a failure, events are due at once, because they have already waited.
    const isDue = isOld || state.pause.failures > 0 || found.waiting.length >= limit();
    if (!all && !isDue) return { type: 'idle', due: time + maxDelayMs };
    // The token is requested before the claim, because the host may be slow.
    if (!userTokens.isReady(userId)) return { type: 'token', userId };
    const group = found.waiting.filter(({ event }) => isSameGroup(options, oldest.event, event));
    const [batch = [oldest]] = planBatches(group, MAX_BODY_BYTES, limit(), context);
    return { type: 'send', batch };
  };
};

/** Added to the request timeout. After the total, no response can arrive anymore. */
const RESPONSE_MARGIN_MS = 5_000;
/** Duration of the exclusive lease to send. After it, the page may be gone, and other pages may send the remaining events. */
const LEASE_MS = 10_000;

/** Creates a claim on a batch. Other pages send nothing for `leaseMs`. */
export const newClaim = (
  { clock, options, pageId, newId }: DeliveryContext,
  batch: QueuedEvent[],
  leaseMs = LEASE_MS,
): Claimed => ({
  claim: {
    v: SCHEMA_VERSION,
    id: newId(),
    pageId,
    deadline: clock.now() + options.timeoutMs + RESPONSE_MARGIN_MS,
    exclusiveUntil: clock.now() + leaseMs,
    keys: batch.map(({ key }) => key),
  },
  batch,
});

/**
 * Claims the remaining events of a batch. Returns `undefined` if another page was faster, or nothing is left. If the disk is
 * too full for a claim, the events are sent anyway, as in an exit flush, except those that may be sent only once.
 */
export const createClaimer =
  (context: DeliveryContext, log: Log) =>
  async (batch: QueuedEvent[]): Promise<Claimed | undefined> => {
    const { options, canSend, trouble } = context;
    let claimed: Claimed | undefined;
    const change = (state: LogState, records: unknown[], claims: Claim[]): Writes | null => {
      // After a lost database connection this runs twice. If the first run committed, change nothing.
      if (claimed && claims.some(({ id }) => id === claimed?.claim.id)) return null;
      claimed = undefined;
      if (findBlock(context, state, claims)) return null;
      const others = new Set(claims.flatMap(({ keys }) => keys.map(formatKey)));
      const kept = batch.flatMap(({ key, event: before }, i): QueuedEvent[] => {
        const event = readEvent(records[i]);
        const isFit = event && isSameGroup(options, event, before) && event.rejection === undefined;
        const isFree = isFit && event.attempts === before.attempts && !others.has(formatKey(key));
        return isFree ? [{ key, event }] : [];
      });
      if (kept.length === 0) return null;
      claimed = newClaim(context, kept);
      return [[claimKey(claimed.claim.id), claimed.claim]];
    };
    try {
      await log.transact(
        batch.map(({ key }) => key),
        change,
      );
    } catch (error) {
      const mayRepeat = batch.every(({ event }) => options.guarantee[event.type] === 'at-least-once');
      if (!isQuotaError(error) || !mayRepeat) throw error;
      // Without a claim, only the trouble chunk prevents an immediate resend.
      await trouble();
      if (!canSend()) throw error;
      claimed = { ...newClaim(context, batch), isUnstored: true };
    }
    return claimed;
  };
