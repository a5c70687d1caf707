import { TRACK_PATH, USER_TOKEN_HEADER, utf8Bytes } from '../../../protocol/index.ts';
import { createPostJson } from '../../platform/http.ts';
import { onReturn } from '../../platform/page-lifecycle.ts';
import type { Unsent } from '../capture.ts';
import type { DeliveryContext } from '../delivery.ts';
import { NOT_TAKEN, noAnswer, type Outcome, readAnswer } from './answer.ts';
import { createKeepaliveBudget, trackBody, withUserToken } from './batch.ts';
import type { Claimed } from './claim.ts';

/**
 * A keepalive request that fails faster than this was refused by the browser, as a rule: the page or its other scripts have used
 * the quota up. A server nearby may have taken it and dropped the connection, so its events are in doubt all the same.
 */
const REFUSED_AT_ONCE_MS = 20;
/** After an answer the preflight is taken to be warm for this long; browsers keep it up to two hours. */
const WARM_MS = 9 * 60_000;

/** Makes requests, within the time and the keepalive budget. */
export const createSend = (context: DeliveryContext, unsent: Unsent) => {
  const { api, consent, clock, lifecycle, userTokens, canSend } = context;
  const { timeoutMs } = context.options;
  const post = createPostJson(api.endpoint, api.fetch);
  const budget = createKeepaliveBudget(clock.monotonic);
  const inFlight = new Set<AbortController>();
  let warmUntil = Number.NEGATIVE_INFINITY;
  consent.subscribe(() => {
    if (!consent.maySend()) for (const abort of inFlight) abort.abort();
  });

  const request = async (
    body: string,
    { batch }: Claimed,
    key: string,
    keepalive: boolean,
  ): Promise<Outcome> => {
    const began = clock.monotonic();
    const wasOffline = globalThis.navigator?.onLine === false;
    const abort = new AbortController();
    const { signal } = abort;
    inFlight.add(abort);
    let isFirst = false;
    const stops = [
      clock.after(timeoutMs, () => abort.abort(new Error(`no answer within ${timeoutMs} ms`))),
      // A change of networks ends the requests that are under way (ERR_NETWORK_CHANGED in Chromium).
      onReturn(lifecycle, () => {
        isFirst = true;
      }),
    ];
    try {
      const answer = await post(TRACK_PATH, { body, key, keepalive, signal });
      if (keepalive) budget.recover();
      warmUntil = clock.monotonic() + WARM_MS;
      const fault = answer.headers.get(USER_TOKEN_HEADER);
      if (answer.status === 401 && fault !== null) userTokens.refused(batch[0]!.event.userId, fault);
      return readAnswer(answer, batch.length, clock.now());
    } catch (cause) {
      const isAtOnce = clock.monotonic() - began < REFUSED_AT_ONCE_MS;
      if (keepalive && isAtOnce && !signal.aborted) budget.refused();
      const outcome = noAnswer(cause);
      // Nothing leaves a browser that is offline.
      if (wasOffline) return { ...outcome, type: 'again', pause: { reason: 'offline' } };
      return { ...outcome, pause: { reason: 'backoff', isFirst } };
    } finally {
      for (const stop of stops) stop();
      inFlight.delete(abort);
    }
  };

  return {
    /** `isLeaving`: the page has no other way than keepalive. */
    async send(claimed: Claimed, key: string, isLeaving: boolean): Promise<Outcome> {
      const { claim, batch } = claimed;
      // The user may have opted out while it was being claimed: there was no request to end yet.
      if (!canSend()) return NOT_TAKEN;
      const body = withUserToken(trackBody(batch), userTokens.current(batch[0]!.event.userId));
      unsent.inRequest(claim.keys);
      const free = budget.take(utf8Bytes(body), isLeaving || !lifecycle.isVisible());
      const outcome = await request(body, claimed, key, free !== undefined);
      free?.();
      return outcome;
    },
    budgetLeft: budget.left,
    /** Whether the browser still knows the answer to the preflight. */
    isWarm: (): boolean => clock.monotonic() < warmUntil,
  };
};
