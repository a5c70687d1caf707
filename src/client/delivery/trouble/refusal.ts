import { readRateLimit, readRefusal } from '../../../protocol/index.ts';
import type { WaitReason } from '../../notices.ts';
import type { Answer } from '../../platform/http.ts';
import type { Kit } from './kit.ts';

/** Why a refusal makes the client wait, by its status; any other one is a failure that backs off. */
const REASONS: Record<number, WaitReason> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'not-found',
  429: 'rate-limit',
};

/** What an answer that is no success means. */
export interface Refusal {
  reason: WaitReason;
  /** The pause that the service requests, in milliseconds; 0 where it names none. */
  requestedMs: number;
  /** The service's own words, where it had some. */
  text: string | undefined;
  /** The entries for single items. */
  errors: unknown[];
}

export const readRefused = (
  { parseJson }: Pick<Kit, 'parseJson'>,
  { status, headers, text }: Answer,
  nowMs: number,
): Refusal => {
  // A 5xx may carry the reset of a window that is not used up. And a time that has passed already, where our clock and the
  // server's differ, is no wish: it would make us hammer.
  const isRequested = status === 429 || headers.has('retry-after');
  // A reset is a time of the server's clock. Where CORS does not expose its `Date`, the device's clock has to do.
  const serverNowMs = Date.parse(headers.get('date') ?? '') || nowMs;
  return {
    ...readRefusal(parseJson(text)),
    reason: REASONS[status] ?? 'backoff',
    requestedMs: (isRequested && readRateLimit(headers, 'epoch', serverNowMs).retryAfterMs) || 0,
  };
};
