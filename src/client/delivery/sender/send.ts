import { TRACK_PATH, USER_TOKEN_HEADER, utf8Bytes } from '../../../protocol/index.ts';
import { createPostJson } from '../../platform/http.ts';
import { backoffMs } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import { isQuota } from '../log/log-store.ts';
import { bannerEvent, type Claim } from '../log/records.ts';
import type { Unsent } from '../unsent.ts';
import { type BatchOutcome, noAnswer, readAnswer } from './answer.ts';
import { type Sending, withUserToken } from './claim.ts';
import type { Scheduler } from './scheduler.ts';
import { createSettle } from './settle.ts';

/** Browsers share about 64 KiB over all keepalive requests of a page; the host has some of its own. */
const BUDGET_BYTES = 60_000;
/** Under this the budget is not halved any more: one small batch must always have a chance. */
const MIN_BYTES = 4_000;
/** After a refusal a page that stays does without keepalive for this long. */
const AVOID_MS = 60_000;

/** Counts the keepalive bytes in flight over all our requests of this page. */
export const createKeepaliveBudget = (monotonic: () => number) => {
  let limit = BUDGET_BYTES;
  let used = 0;
  let avoidUntil = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Takes `bytes` if they fit, and returns the function that frees them, or `undefined`. A page that is `leaving` has
     * no other way, any other page does without after a refusal.
     */
    take(bytes: number, leaving: boolean): (() => void) | undefined {
      if (used + bytes > limit || (!leaving && monotonic() < avoidUntil)) return undefined;
      used += bytes;
      let isHeld = true;
      return () => {
        if (isHeld) used -= bytes;
        isHeld = false;
      };
    },
    left: () => limit - used,
    /** The browser refused a request at once: others use the quota too, so ask for half. */
    refused() {
      limit = Math.max(MIN_BYTES, Math.floor(limit / 2));
      avoidUntil = monotonic() + AVOID_MS;
    },
    /** A request came through: ask for more again. */
    recover() {
      limit = Math.min(BUDGET_BYTES, limit * 2);
    },
  };
};

export type KeepaliveBudget = ReturnType<typeof createKeepaliveBudget>;

/** A keepalive request that fails faster than this was never sent: the page or its other scripts have used the quota up. */
const REFUSED_AT_ONCE_MS = 20;

/** After a request that was too large the next ones are smaller for this long. */
const SMALL_MS = 60 * 60_000;

/** No request went out: it may be sent again at once. */
const NOT_SENT: BatchOutcome = { type: 'again', status: 0, skipped: [], problems: [] };

/** Makes requests within the time and the keepalive budget, and brings the outcomes to disk and to the host. */
export const createSendBatch = (context: DeliveryContext, log: Log, scheduler: Scheduler, unsent: Unsent) => {
  const { api, consent, host, clock, random, lifecycle, userTokens, news, notify, canSend } = context;
  const { maxBatch, timeoutMs } = context.options;
  const post = createPostJson(api.endpoint, api.fetch);
  const budget = createKeepaliveBudget(clock.monotonic);
  const settle = createSettle(context, log);
  const inFlight = new Set<AbortController>();
  let limit = maxBatch;
  let largeAgainAt = 0;
  /** How the head of the queue is cut, since a request was refused as a whole: halved, until the culprit is alone. */
  let cuts: number[] = [];
  consent.subscribe(() => {
    if (!consent.maySend()) for (const abort of inFlight) abort.abort();
  });

  const finish = async (
    { claim, events }: Pick<Sending, 'claim' | 'events'>,
    outcome: BatchOutcome,
    key: string,
  ): Promise<number> => {
    const { delivered, gone, notices } = await settle(claim, outcome, key).catch(async (error) => {
      // A disk that is too full to count them lets go of what was taken.
      if (!isQuota(error) || outcome.type !== 'confirmed') throw error;
      const taken = events.filter((_, i) => !outcome.skipped.some(({ index }) => index === i));
      await log.remove(taken);
      return {
        delivered: taken.map(({ event }) => bannerEvent(event)),
        gone: taken.map(({ key: each }) => each),
        notices: [],
      };
    });
    unsent.removed(gone);
    if (delivered.length > 0) {
      host.onDelivered?.(delivered);
      notify({ type: 'delivered', events: delivered });
    }
    for (const notice of notices) notify(notice);
    for (const message of outcome.problems) notify({ type: 'failed', kind: 'answer', message });
    if (outcome.failure) notify({ type: 'failed', ...outcome.failure });
    news.post({ type: 'idle', wait: log.lastControl().wait });
    return delivered.length;
  };

  const request = async (
    { events, body }: Sending,
    key: string,
    keepalive: boolean,
  ): Promise<BatchOutcome> => {
    const began = clock.monotonic();
    const reconnectsBefore = scheduler.reconnects();
    const wasOffline = globalThis.navigator?.onLine === false;
    const abort = new AbortController();
    const { signal } = abort;
    inFlight.add(abort);
    const cancelTimeout = clock.after(timeoutMs, () =>
      abort.abort(new Error(`no answer within ${timeoutMs} ms`)),
    );
    try {
      const answer = await post(TRACK_PATH, { body, key, keepalive, signal });
      if (keepalive) budget.recover();
      scheduler.answered();
      const fault = answer.headers.get(USER_TOKEN_HEADER);
      if (answer.status === 401 && fault !== null) userTokens.refused(events[0]!.event.userId, fault);
      return readAnswer(answer, events.length, clock.now());
    } catch (cause) {
      const isRefused = clock.monotonic() - began < REFUSED_AT_ONCE_MS;
      if (keepalive && isRefused && !signal.aborted) budget.refused();
      // Nothing leaves a browser that is offline.
      if (wasOffline) return { ...noAnswer(cause, { reason: 'offline' }), type: 'again' };
      // A change of networks ends the requests that are under way (ERR_NETWORK_CHANGED in Chromium), and says nothing of
      // how things are now.
      const ms = scheduler.reconnects() === reconnectsBefore ? undefined : backoffMs(1, random);
      return noAnswer(cause, { reason: 'backoff', ms });
    } finally {
      cancelTimeout();
      inFlight.delete(abort);
    }
  };

  /** How many events to try next, by what became of these. */
  const learn = (count: number, { type, status, skipped }: BatchOutcome): void => {
    if (status === 413) {
      limit = Math.max(1, Math.ceil(count / 2));
      largeAgainAt = clock.monotonic() + SMALL_MS;
    }
    if (type !== 'refused' && type !== 'confirmed') return;
    const isWhole = type === 'refused' && skipped.length === 0 && count > 1;
    cuts = [...(isWhole ? [Math.ceil(count / 2), Math.floor(count / 2)] : []), ...cuts.slice(1)];
  };

  return {
    /** Resolves with how many events were delivered. */
    async send(sending: Sending, key: string, isLeaving = false): Promise<number> {
      const { claim, events } = sending;
      // The user may have opted out while it was being claimed: there was no request to end yet.
      if (!canSend()) return finish(sending, NOT_SENT, key);
      const body = withUserToken(sending.body, userTokens.current(events[0]!.event.userId));
      unsent.inRequest(claim.keys);
      const free = budget.take(utf8Bytes(body), isLeaving || !lifecycle.isVisible());
      const outcome = await request({ ...sending, body }, key, free !== undefined);
      free?.();
      if (!isLeaving) learn(events.length, outcome);
      return finish(sending, outcome, key);
    },

    /** The answer cannot be read any more: its tab is gone, which says nothing about the network. */
    giveUp: (claim: Claim): Promise<unknown> =>
      finish({ claim, events: [] }, noAnswer(new Error('its page is gone')), ''),

    budgetLeft: budget.left,
    /** Events in one batch: as the host chose, or fewer after a refusal. */
    limit: () => Math.min(clock.monotonic() < largeAgainAt ? limit : maxBatch, cuts[0] ?? maxBatch),
  };
};

export type SendBatch = ReturnType<typeof createSendBatch>;
