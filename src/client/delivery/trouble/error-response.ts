import { readRateLimit, readRefusal } from '../../../protocol/index.ts';
import type { PauseReason } from '../../notices.ts';
import type { HttpResponse } from '../../platform/http.ts';
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
  const refusal = readRefusal(parseJson(text));
  return {
    ...refusal,
    message: `HTTP ${status} from ${url}${refusal.text ? `: ${refusal.text}` : ''}`,
    reason: REASONS[status] ?? 'backoff',
    requestedMs: (isRequested && readRateLimit(headers, 'epoch', serverNowMs).retryAfterMs) || 0,
  };
};
