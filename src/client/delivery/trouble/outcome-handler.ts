import type { BannerEvent } from '../../banner.ts';
import type { DropReason, Notice } from '../../notices.ts';
import type { Pause, PauseCause } from '../../platform/pauses.ts';
import type { DeliveryContext } from '../delivery.ts';
import { MAX_DELAY_MS } from '../limits.ts';
import type { Log } from '../log/log.ts';
import type { Claim, Claimed, LogEvent, LogState, QueuedEvent, Writes } from '../log/records.ts';
import { extendPause } from './backoff.ts';
import { getRetryTime } from './correction.ts';
import { toDeadLetter } from './dead-letters.ts';
import { mayContainPoisonEvent, type Outcome } from './response.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** Number of consecutive rejections without a named event before the client backs off. */
const MAX_REJECTIONS = 8;
/** Minimum pause of all tabs after a request without a written claim that left events undelivered. */
const UNCLAIMED_MS = 60_000;

/** Returns the pause of all tabs after this outcome; `before` is the current one. */
export const getNextPause = (
  shared: Pick<SharedFunctions, 'isPaused' | 'noPause'>,
  { clock, random }: Pick<DeliveryContext, 'clock' | 'random'>,
  before: Pause,
  outcome: Outcome,
): Pause => {
  const { isPaused, noPause } = shared;
  const now = clock.now();
  switch (outcome.type) {
    case 'confirmed':
      // No tab sends before the time that the server requested, regardless of the results of other requests in flight.
      return before.isServerMandated && isPaused(before, now) ? before : noPause();
    case 'rejected': {
      if (outcome.itemErrors.length > 0) return before;
      const failures = before.failures + 1;
      // One bad event does not cause this many consecutive rejections.
      if (failures >= MAX_REJECTIONS) return extendPause(shared, before, { reason: 'backoff' }, now, random);
      return { ...before, failures };
    }
    case 'retry':
    case 'in-doubt':
      return outcome.pause ? extendPause(shared, before, outcome.pause, now, random) : before;
  }
};

/** Returns the FNV-1a hash of the key's code units, to recognize the key without storing it. */
export const fingerprint = (key: string): string => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193) >>> 0;
  return `${key.length}-${hash.toString(36)}`;
};

interface Effects {
  delivered: BannerEvent[];
  notices: Notice[];
  writes: Writes;
}

const noEffects = (): Effects => ({ delivered: [], notices: [], writes: [] });

/**
 * Decides the outcome of the events. Item i of `items` is event i of the request, or a gap if it was purged in the meantime.
 * Events without a write stay in the queue unchanged. Changes only the totals of `state`.
 */
const settleEvents = (
  { bannerEvent }: SharedFunctions,
  { onEventRejected, isWorker, clock, options }: DeliveryContext,
  state: LogState,
  { id }: Claim,
  items: (QueuedEvent | undefined)[],
  outcome: Outcome,
): Effects => {
  const settled = noEffects();
  const { notices, writes } = settled;
  // A service worker leaves corrections to the pages, because it has no `onEventRejected` function.
  const corrects = isWorker || onEventRejected !== undefined;
  const itemErrors = 'itemErrors' in outcome ? outcome.itemErrors : [];
  const rejections = new Map(itemErrors.map(({ index, reason }) => [items[index], reason]));
  const others = items.filter((item) => item !== undefined).filter((item) => !rejections.has(item));

  const drop = (event: BannerEvent, reason: DropReason, detail: string): void =>
    void notices.push({ type: 'dropped', event: bannerEvent(event), reason, detail });
  const setAside = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    drop(event, reason, detail);
    writes.push(...toDeadLetter({ key, event: { ...event, attempts: event.attempts + 1 } }, detail));
  };
  /** Handles an event that the server named: one more attempt, then a correction, a retry, or a dead letter. */
  const reject = (item: QueuedEvent, reason: string): void => {
    const { inDoubtClaimId: _claimId, ...event } = item.event;
    const attempts = event.attempts + 1;
    notices.push({ type: 'rejected', event: bannerEvent(event), reason, attempts });
    const next = corrects ? { rejection: reason } : { notBefore: getRetryTime({ clock, options }) };
    if (attempts >= options.maxAttempts) setAside(item, 'max-attempts', reason);
    else writes.push([item.key, { ...event, attempts, ...next }]);
  };

  /** Whether the server failed on a batch of one event. */
  const isPoison = items.length === 1 && mayContainPoisonEvent(outcome);
  /** Defers a poison event by its age, at most `MAX_DELAY_MS`. */
  const defer = (event: LogEvent): LogEvent => {
    const now = clock.now();
    return { ...event, notBefore: now + Math.min(now - event.time, MAX_DELAY_MS) };
  };

  for (const [item, reason] of rejections) if (item) reject(item, reason);
  switch (outcome.type) {
    case 'confirmed':
      state.delivered += others.length;
      for (const { key, event } of others) {
        settled.delivered.push(bannerEvent(event));
        writes.push([key, undefined]);
      }
      break;
    case 'in-doubt':
      notices.push({ type: 'in-doubt', events: others.map(({ event }) => bannerEvent(event)) });
      for (const { key, event } of others) {
        // The outcome is unknown, so the event is resent with its batch, or dropped.
        const isKept = options.guarantee[event.type] === 'at-least-once';
        writes.push([
          key,
          isKept
            ? { ...(isPoison ? defer(event) : event), inDoubtClaimId: event.inDoubtClaimId ?? id }
            : undefined,
        ]);
        if (isKept) continue;
        state.discarded += 1;
        drop(event, 'discarded', 'in doubt, at most once');
      }
      break;
    case 'rejected': {
      const [alone] = items;
      // An event that is rejected alone would be rejected again. Without a correction it becomes a dead letter.
      if (itemErrors.length > 0 || items.length > 1 || !alone) break;
      if (corrects) reject(alone, outcome.reason);
      else setAside(alone, 'rejected', outcome.reason);
      break;
    }
    case 'retry':
      if (isPoison) for (const { key, event } of others) writes.push([key, defer(event)]);
      break;
  }
  return settled;
};

/**
 * Settles any request: records the result in one transaction, then reports all except the delivered events, which it returns.
 * Index i of the response is item i of `claim.keys`. `apiKey` is the key that was sent.
 */
export const createOutcomeHandler = (shared: SharedFunctions, context: DeliveryContext, log: Log) => {
  const { notify, fail } = context;
  const { bannerEvent, claimKey, isQuotaError, readEvent } = shared;

  /**
   * If the claim is gone from the log, only two outcomes count: a confirmation of events that are still there, and the response
   * to a request whose claim a full disk rejected.
   */
  const store = async (
    { claim, isUnstored }: Claimed,
    outcome: Outcome,
    apiKey: string,
  ): Promise<Effects> => {
    let settled = noEffects();
    let wasOurs = false;

    const change = (state: LogState, records: unknown[], claims: Claim[]): Writes | null => {
      const isOurs = claims.some(({ id }) => id === claim.id);
      // After a lost database connection this runs twice. If the first run committed, change nothing.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      const items = claim.keys.map((key, i): QueuedEvent | undefined => {
        const event = readEvent(records[i]);
        return event && { key, event };
      });
      const isEmpty = items.every((item) => item === undefined);
      // A confirmation always counts, even after the claim has expired. Any other outcome counts only for a request that the
      // log knows, or whose claim a full disk rejected.
      if (!isOurs && ((outcome.type !== 'confirmed' && !isUnstored) || isEmpty)) return null;
      state.pause = getNextPause(shared, context, state.pause, outcome);
      if (outcome.type === 'confirmed') state.rejectedKeyFingerprint = null;
      if (outcome.type === 'retry' && outcome.pause?.reason === 'unauthorized')
        state.rejectedKeyFingerprint = fingerprint(apiKey);
      settled = isEmpty ? noEffects() : settleEvents(shared, context, state, claim, items, outcome);
      // If the disk is too full for this write as well, only the pause in memory applies.
      if (isUnstored && settled.delivered.length < claim.keys.length) {
        const pause: PauseCause = { reason: 'backoff', requestedMs: UNCLAIMED_MS };
        state.pause = getNextPause(shared, context, state.pause, { type: 'retry', pause });
      }
      return [[claimKey(claim.id), undefined], ...settled.writes];
    };

    await log.transact(claim.keys, change);
    return settled;
  };

  return async (claimed: Claimed, outcome: Outcome, apiKey: string): Promise<BannerEvent[]> => {
    const { delivered, notices } = await store(claimed, outcome, apiKey).catch(async (error) => {
      // The disk is too full to count delivered events, so they are removed uncounted.
      if (!isQuotaError(error) || outcome.type !== 'confirmed') throw error;
      const taken = claimed.batch.filter((_, i) => !outcome.itemErrors.some(({ index }) => index === i));
      await log.remove(taken);
      fail('storage', 'The disk is full: delivered events are not counted', error);
      return { ...noEffects(), delivered: taken.map(({ event }) => bannerEvent(event)) };
    });
    for (const notice of notices) notify(notice);
    const problems = 'problems' in outcome ? outcome.problems : [];
    for (const problem of problems) fail('protocol', `Inconsistent response: ${problem}`);
    if ('failure' in outcome && outcome.failure) {
      const { kind, message, cause } = outcome.failure;
      fail(kind, `Delivery failed: ${message}`, cause);
    }
    return delivered;
  };
};
