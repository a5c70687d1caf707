import {
  readTrackSuccess,
  TRACK_PATH,
  USER_TOKEN_HEADER,
  USER_TOKEN_MEMBER,
  utf8Bytes,
} from '../../../protocol/index.ts';
import type { BannersTrackRequest } from '../../../protocol/schemas/index.ts';
import { type HttpResponse, parseJson, toJson } from '../../platform/http.ts';
import { onReturn } from '../../platform/page.ts';
import { compareKeys } from '../../platform/store.ts';
import type { DeliveryContext, RequestResult } from '../delivery.ts';
import type { Log } from '../log/log.ts';
import { isSameGroup, type QueuedEvent } from '../log/records.ts';

/** Returns the request body for a batch of one user. Deterministic: the same events give the same bytes. */
export const trackBody = (batch: Pick<QueuedEvent, 'event'>[]): string => {
  const { userId, appId, appVersion } = batch[0]!.event;
  const request: BannersTrackRequest = {
    external_user_id: userId,
    app_id: appId,
    app_version: appVersion,
    events: batch.map(({ event: { bannerId, type, time, buttonId } }) => ({
      id: bannerId,
      event_type: type,
      timestamp: new Date(time).toISOString(),
      button_id: buttonId,
    })),
  };
  return toJson(request);
};

/** Adds the user token, which is not stored, to a request body. */
export const withUserToken = (body: string, token: string | undefined): string =>
  token === undefined ? body : `${body.slice(0, -1)},"${USER_TOKEN_MEMBER}":${JSON.stringify(token)}}`;

/** Size of the smallest event, in bytes. If less space is left, the plan is full. */
const MIN_EVENT_BYTES = 70;

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

/** The API responds with 202 and the number of events. Some servers omit the number. */
const isAllAccepted = ({ status, text }: HttpResponse, length: number): boolean => {
  const { events_processed, message, errors } = Object(status === 202 && readTrackSuccess(parseJson(text)));
  return (events_processed ?? (message && length)) === length && (errors ?? []).length === 0;
};

/**
 * A keepalive request that fails faster than this was usually rejected by the browser, because the page or its other scripts
 * used up the quota. A nearby server may have accepted it and closed the connection, so its events are in doubt anyway.
 */
const REJECTED_AT_ONCE_MS = 20;
/** Budget for keepalive requests. Browsers allow about 64 KiB for all keepalive requests of a page, including the host's. */
const BUDGET_BYTES = 60_000;
/** Time for which a visible page sends without keepalive after the browser rejected a keepalive request. */
const NO_KEEPALIVE_MS = 60_000;
/** Time for which the preflight counts as cached after a response. Browsers cache it for up to two hours. */
const PREFLIGHT_MS = 9 * 60_000;

/** Sends requests within the timeout and the keepalive budget. */
export const createRequests = (context: DeliveryContext, { cache }: Log) => {
  const { postJson, clock, lifecycle, userTokens, permission } = context;
  const { timeoutMs } = context.options;
  /** Bytes of keepalive requests in flight. */
  let used = 0;
  let noKeepaliveUntil = Number.NEGATIVE_INFINITY;
  const inFlight = new Set<AbortController>();
  let preflightUntil = Number.NEGATIVE_INFINITY;

  const request = async (
    body: string,
    token: string | undefined,
    batch: QueuedEvent[],
    key: string,
    keepalive: boolean,
  ): Promise<RequestResult> => {
    const began = clock.monotonic();
    const wasOffline = globalThis.navigator?.onLine === false;
    const abort = new AbortController();
    inFlight.add(abort);
    let isNewNetwork = false;
    // A network change ends requests in flight (`ERR_NETWORK_CHANGED` in Chromium).
    const stop = onReturn(lifecycle, () => {
      isNewNetwork = true;
    });
    try {
      const response = await postJson(TRACK_PATH, { body, key, keepalive, timeoutMs, abort });
      preflightUntil = clock.monotonic() + PREFLIGHT_MS;
      const fault = response.headers.get(USER_TOKEN_HEADER);
      if (response.status === 401 && fault !== null) userTokens.reject(batch[0]!.event.userId, token, fault);
      return { type: 'response', response, isAllAccepted: isAllAccepted(response, batch.length) };
    } catch (cause) {
      const isAtOnce = clock.monotonic() - began < REJECTED_AT_ONCE_MS;
      if (keepalive && isAtOnce && !abort.signal.aborted)
        noKeepaliveUntil = clock.monotonic() + NO_KEEPALIVE_MS;
      return { type: 'no-response', cause, isNewNetwork, wasOffline };
    } finally {
      stop();
      inFlight.delete(abort);
    }
  };

  return {
    /**
     * Sends a batch. On page exit (`isPageExit`), only a keepalive request is possible. Returns `undefined` if no request was
     * sent.
     */
    async send(batch: QueuedEvent[], key: string, isPageExit: boolean): Promise<RequestResult | undefined> {
      // The user may have opted out during the claim, when there was no request to abort yet.
      if (!permission.canSend()) return undefined;
      const token = userTokens.current(batch[0]!.event.userId);
      const body = withUserToken(trackBody(batch), token);
      cache.removeUnsent(batch);
      const bytes = utf8Bytes(body);
      const mayStay = !isPageExit && lifecycle.isVisible();
      const keepalive = used + bytes <= BUDGET_BYTES && !(mayStay && clock.monotonic() < noKeepaliveUntil);
      if (keepalive) used += bytes;
      const result = await request(body, token, batch, key, keepalive);
      if (keepalive) used -= bytes;
      return result;
    },
    abortAll(): void {
      for (const abort of inFlight) abort.abort();
    },
    budgetLeft: (): number => BUDGET_BYTES - used,
    hasPreflight: (): boolean => clock.monotonic() < preflightUntil,
  };
};

export type Requests = ReturnType<typeof createRequests>;
