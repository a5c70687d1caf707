import { TRACK_PATH, USER_TOKEN_HEADER, utf8Bytes } from '../../../protocol/index.ts';
import { backoffMs } from '../../platform/backoff.ts';
import { createPostJson } from '../../platform/post-json.ts';
import type { DeliveryContext } from '../context.ts';
import {
  type BatchOutcome,
  createKeepaliveBudget,
  noAnswer,
  readAnswer,
  withUserToken,
} from '../http/index.ts';
import type { Batch, Log } from '../log/index.ts';
import type { Unsent } from '../unsent.ts';
import type { Leased } from './lease.ts';
import type { Scheduler } from './scheduler.ts';
import { createSettle } from './settle.ts';

/** A keepalive request that fails faster than this was never sent: the page or its other scripts have used the quota up. */
const REFUSED_AT_ONCE_MS = 20;

/** No request went out: the batch may be sent again at once. */
const NOT_SENT: BatchOutcome = { type: 'again', status: 0, skipped: [], problems: [] };

/** Sends leased batches within the time and the keepalive budget, and brings the outcomes to disk and to the host. */
export const createSendBatch = (context: DeliveryContext, log: Log, scheduler: Scheduler, unsent: Unsent) => {
  const { api, consent, host, clock, random, lifecycle, userTokens, news, notify, canSend } = context;
  const { maxBatch, timeoutMs } = context.options;
  const post = createPostJson(api.endpoint, api.fetch);
  const budget = createKeepaliveBudget(clock.monotonic);
  const settle = createSettle(context, log);
  const inFlight = new Set<AbortController>();
  let limit = maxBatch;
  consent.subscribe(() => {
    if (!consent.maySend()) for (const abort of inFlight) abort.abort();
  });

  const finish = async (batch: Batch, outcome: BatchOutcome, key: string): Promise<number> => {
    const { delivered, gone, notices } = await settle(batch, outcome, key);
    unsent.removed(gone);
    if (delivered.length > 0) {
      host.onDelivered?.(delivered);
      notify({ type: 'delivered', events: delivered });
    }
    for (const notice of notices) notify(notice);
    for (const message of outcome.problems) notify({ type: 'failed', kind: 'answer', message });
    if (outcome.failure) notify({ type: 'failed', ...outcome.failure });
    news.post({ type: 'idle' });
    return delivered.length;
  };

  const request = async ({ batch, body }: Leased, key: string, keepalive: boolean): Promise<BatchOutcome> => {
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
      if (answer.status === 401 && fault !== null) userTokens.refused(batch.userId, fault);
      return readAnswer(answer, batch.keys.length, clock.now());
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

  return {
    /** Resolves with how many events were delivered. */
    async send(leased: Leased, key: string, isLeaving = false): Promise<number> {
      const { batch } = leased;
      // The user may have opted out while it was being leased: there was no request to end yet.
      if (!canSend()) return finish(batch, NOT_SENT, key);
      const body = withUserToken(leased.body, userTokens.current(batch.userId));
      unsent.inRequest(batch.keys);
      const free = budget.take(utf8Bytes(body), isLeaving || !lifecycle.isVisible());
      const outcome = await request({ batch, body }, key, free !== undefined);
      free?.();
      if (outcome.status === 413) limit = Math.max(1, Math.ceil(batch.keys.length / 2));
      return finish(batch, outcome, key);
    },

    /** The answer cannot be read any more: the batch's tab is gone, which says nothing about the network. */
    abandon: (batch: Batch): Promise<unknown> => finish(batch, noAnswer(new Error('its page is gone')), ''),

    budgetLeft: budget.left,
    /** Events in one batch: as the host chose, or fewer after a 413. */
    limit: () => limit,
  };
};

export type SendBatch = ReturnType<typeof createSendBatch>;
