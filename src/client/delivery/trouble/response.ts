import { readErrorBody, readRateLimit, type TrackSuccess } from '../../../protocol/index.ts';
import type { FailureKind, PauseReason } from '../../notices.ts';
import type { HttpResponse } from '../../platform/http.ts';
import type { PauseCause } from '../../platform/pauses.ts';
import type { RequestResult } from '../delivery.ts';
import type { SharedFunctions } from './shared-functions.ts';

/** Reason for the pause, by status. Any other status is a failure with backoff. */
const REASONS: Record<number, PauseReason> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not-found',
  429: 'rate-limit',
};

/** Parsed error response. */
export interface ErrorResponse {
  reason: PauseReason;
  /** Pause that the service requests, in milliseconds; 0 if none. */
  requestedMs: number;
  /** Message from the service; `undefined` if none. */
  text: string | undefined;
  /** Status, URL and message, for developers. */
  message: string;
  /** Entries for individual items. */
  errors: unknown[];
}

export const parseErrorResponse = (
  { parseJson }: Pick<SharedFunctions, 'parseJson'>,
  { url, status, headers, text }: HttpResponse,
  nowMs: number,
): ErrorResponse => {
  // A 5xx may contain the reset of a rate-limit window that is not used up. A time in the past, caused by clock differences, is
  // ignored; it would cause immediate retries.
  const isRequested = status === 429 || headers.has('retry-after');
  // A reset is server time. If CORS does not expose the `Date` header, device time is used.
  const serverNowMs = Date.parse(headers.get('date') ?? '') || nowMs;
  const parsed = readErrorBody(parseJson(text));
  return {
    ...parsed,
    message: `HTTP ${status} from ${url}${parsed.text ? `: ${parsed.text}` : ''}`,
    reason: REASONS[status] ?? 'backoff',
    requestedMs: (isRequested && readRateLimit(headers, 'epoch', serverNowMs).retryAfterMs) || 0,
  };
};

/** Event that a response rejected in `errors`. */
export interface ItemError {
  /** Index in the sent batch. */
  index: number;
  reason: string;
}

interface Failure {
  kind: FailureKind;
  message: string;
  cause?: unknown;
}

/** Outcome of the events of a request. */
export type Outcome =
  /** The server accepted every event that `itemErrors` does not name. `problems`: contradictions in the response. */
  | { type: 'confirmed'; itemErrors: ItemError[]; problems: string[] }
  /** Not retried unchanged: each event that `itemErrors` names, or the whole request if it names none (for `reason`). */
  | {
      type: 'rejected';
      itemErrors: ItemError[];
      problems: string[];
      isTooLarge: boolean;
      reason: string;
      failure: Failure;
    }
  /** Neither accepted nor rejected: retry, after `pause` if there is one. */
  | { type: 'retry'; pause?: PauseCause; failure?: Failure; isServerError?: boolean }
  /** Unknown whether the events were accepted, because the response is unreadable or not from the API. */
  | { type: 'in-doubt'; pause?: PauseCause; failure: Failure; isServerError?: boolean };

/** Returns whether a single event may have caused the failure of the whole request. Smaller batches isolate it. */
export const mayContainPoisonEvent = (outcome: Outcome): boolean =>
  outcome.type === 'rejected'
    ? outcome.itemErrors.length === 0
    : outcome.type !== 'confirmed' && outcome.isServerError === true;

/** Interval between requests with a rejected key, which fail until the server's configuration changes. */
const SAME_KEY_PROBE_MS = 60 * 60_000;
/** Interval between requests after a 404. Banners are not set up yet. */
const NOT_FOUND_PROBE_MS = 15 * 60_000;

const isJson = ({ headers }: HttpResponse): boolean =>
  /^application\/([\w.+-]+\+)?json\b/i.test(headers.get('content-type') ?? '');

/** A response that does not concern the events. They may be sent again at once. */
const TOKEN_REJECTED: Outcome = { type: 'retry' };

export const noResponse = (cause: unknown, pause?: PauseCause): Outcome => ({
  type: 'in-doubt',
  ...(pause && { pause }),
  failure: { kind: 'delivery', message: Object(cause).message ?? String(cause), cause },
});

/**
 * Reads each entry of `errors`. A position in the batch counts once. Any other entry is reported as a problem and affects no
 * event.
 */
export const parseItemErrors = (
  errors: unknown[],
  length: number,
): { itemErrors: ItemError[]; problems: string[] } => {
  const byIndex = new Map<unknown, ItemError>();
  const problems: string[] = [];
  for (const error of errors) {
    const { index, type } = Object(error);
    if (!Number.isInteger(index) || index < 0 || index >= length) {
      problems.push(`errors has index ${JSON.stringify(index)} of a batch of ${length}`);
    } else if (byIndex.has(index)) problems.push(`errors has index ${index} twice`);
    else byIndex.set(index, { index, reason: typeof type === 'string' ? type : 'no reason given' });
  }
  return { itemErrors: [...byIndex.values()].sort((a, b) => a.index - b.index), problems };
};

/**
 * Returns whether the API sent the body. The API responds with 202 and the number of accepted events; a captive portal may
 * respond with 200 and any JSON.
 */
const isApis = (status: number, { events_processed, message }: TrackSuccess): boolean =>
  typeof events_processed === 'number' || (status === 202 && message !== undefined);

const confirmed = ({ errors, events_processed }: TrackSuccess, length: number): Outcome => {
  if (errors != null && !Array.isArray(errors)) {
    const problem = `errors is ${JSON.stringify(errors)}, not a list`;
    // The response may name an event, unless the number shows that all events were accepted.
    if (events_processed !== length) return noResponse(new Error(problem), { reason: 'backoff' });
    return { type: 'confirmed', itemErrors: [], problems: [problem] };
  }
  const { itemErrors, problems } = parseItemErrors(errors ?? [], length);
  const expected = length - itemErrors.length;
  if (typeof events_processed === 'number' && events_processed !== expected)
    problems.push(`events_processed: expected ${expected} of ${length}, got ${events_processed}`);
  return { type: 'confirmed', itemErrors, problems };
};

/** Returns the outcome of a response for a batch of `length` events. */
export const readResponse = (
  shared: Pick<SharedFunctions, 'parseJson' | 'readTrackSuccess' | 'USER_TOKEN_HEADER'>,
  response: HttpResponse,
  length: number,
  now: number,
): Outcome => {
  const { parseJson, readTrackSuccess, USER_TOKEN_HEADER } = shared;
  const { url, status, headers, text: sent } = response;
  const body = parseJson(sent);
  const retry = (message: string, pause: PauseCause, kind: FailureKind = 'delivery'): Outcome => ({
    type: 'retry',
    pause,
    failure: { kind, message },
  });
  if (status >= 200 && status < 300) {
    const data = readTrackSuccess(body);
    if (data !== undefined && isApis(status, data)) return confirmed(data, length);
    // A captive portal responds with 200 and its own page or JSON. The server received nothing.
    if (!isJson(response) || (body !== undefined && status !== 202))
      return retry(`HTTP ${status} from ${url} is not an API response`, { reason: 'backoff' });
    return noResponse(new Error(`HTTP ${status} from ${url} is not valid JSON`), { reason: 'backoff' });
  }
  const { reason, requestedMs, errors, text, message } = parseErrorResponse(shared, response, now);
  if (status >= 500) {
    // After a 500 of the API nothing was stored, and after any 503 nothing was begun. Other 5xx come from a proxy, behind which
    // the events may have been accepted, or from a service whose database timed out.
    const isNotStored = status === 503 || (status === 500 && isJson(response) && body !== undefined);
    return {
      type: isNotStored ? 'retry' : 'in-doubt',
      pause: { reason, requestedMs },
      failure: { kind: 'delivery', message },
      isServerError: status === 500 || status === 502,
    };
  }
  // Concerns only this user. Events of other users are still sent.
  if (status === 401 && headers.has(USER_TOKEN_HEADER)) return TOKEN_REJECTED;
  if (reason === 'unauthorized') return retry(message, { reason, requestedMs: SAME_KEY_PROBE_MS }, reason);
  if (reason === 'not-found') return retry(message, { reason, requestedMs: NOT_FOUND_PROBE_MS }, reason);
  // The request is invalid, so an unchanged retry would fail again. A body that is not JSON comes from a proxy, which can judge
  // only the size.
  const isTooLarge = status === 413;
  const isRejection = isTooLarge || (isJson(response) && body !== undefined);
  if (status >= 400 && status < 500 && status !== 408 && reason !== 'rate-limit' && isRejection) {
    const failure: Failure = { kind: 'delivery', message };
    return {
      type: 'rejected',
      isTooLarge,
      reason: text ?? `HTTP ${status}`,
      failure,
      ...parseItemErrors(errors, length),
    };
  }
  return retry(message, { reason, requestedMs });
};

/** Returns the outcome of a request for a batch of `length` events. */
export const toOutcome = (
  shared: SharedFunctions,
  result: RequestResult,
  length: number,
  now: number,
): Outcome => {
  if (result.type === 'response') return readResponse(shared, result.response, length, now);
  const { cause, isNewNetwork, wasOffline } = result;
  const outcome = noResponse(cause, { reason: 'backoff', isNewNetwork });
  // An offline browser sends nothing.
  return wasOffline ? { ...outcome, type: 'retry', pause: { reason: 'offline' } } : outcome;
};
