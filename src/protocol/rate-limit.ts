import { HOUR_MS } from './durations.ts';
/**
 * Unit of `X-RateLimit-Reset`: seconds left on `/users/track`, epoch time elsewhere. Depends on the endpoint, never on the
 * magnitude.
 */
export type ResetKind = 'delta-seconds' | 'epoch';

/** Rate limit parsed from response headers. */
export interface RateLimitInfo {
  limit?: number;
  remaining?: number;
  /** End of the window in Unix milliseconds. */
  resetAtMs?: number;
  /** Time to wait in milliseconds, at most one hour. */
  retryAfterMs?: number;
}

/** Maximum wait in milliseconds, even if the server requests more. */
export const MAX_WAIT_MS = HOUR_MS;
/** Minimum of epoch times in milliseconds. Lower values are seconds, which reach this value in the year 33658. */
const EPOCH_IN_MS = 1e12;

const wholeNumber = (text: string | null): number | undefined =>
  text !== null && /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;

const capped = (waitMs: number): number => Math.min(Math.max(waitMs, 0), MAX_WAIT_MS);

/** Parses `Retry-After`, as sent by proxies: seconds or an HTTP date. */
const standardRetryAfterMs = (text: string | null, nowMs: number): number | undefined => {
  const seconds = wholeNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
};

/**
 * Parses the headers in either format. The wait is the retry header if it is an integer, otherwise `Retry-After`, otherwise the
 * time to reset. If none is present, the caller backs off.
 */
export const readRateLimit = (headers: Headers, kind: ResetKind, nowMs: number): RateLimitInfo => {
  const info: RateLimitInfo = {};
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  const reset = wholeNumber(headers.get('x-ratelimit-reset'));
  if (limit !== undefined) info.limit = limit;
  if (remaining !== undefined) info.remaining = remaining;
  if (reset !== undefined) {
    if (kind === 'delta-seconds') info.resetAtMs = nowMs + reset * 1000;
    else info.resetAtMs = reset >= EPOCH_IN_MS ? reset : reset * 1000;
  }
  const seconds = wholeNumber(headers.get('x-ratelimit-retry-after'));
  const wait =
    seconds !== undefined
      ? seconds * 1000
      : (standardRetryAfterMs(headers.get('retry-after'), nowMs) ??
        (info.resetAtMs === undefined ? undefined : info.resetAtMs - nowMs));
  if (wait !== undefined) info.retryAfterMs = capped(wait);
  return info;
};

interface RateWindow {
  limit: number;
  remaining: number;
  resetAtMs: number;
}

/** Format of an endpoint's rate limit headers. */
export type RateHeaderFormat = 'users-track' | 'general' | 'banners';

/**
 * Returns the rate limit headers of a response. `/users/track` sends the reset as seconds left, and on a 429 only the retry
 * header, in its own spelling. Other endpoints send the reset in epoch seconds, and the banner endpoints send all four headers on
 * a 429.
 */
export const rateLimitHeaders = (
  dialect: RateHeaderFormat,
  window: RateWindow,
  nowMs: number,
  refused: boolean,
): Record<string, string> => {
  const left = Math.max(1, Math.ceil((window.resetAtMs - nowMs) / 1000));
  if (dialect === 'users-track' && refused) return { 'X-Ratelimit-Retry-After': String(left) };
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(window.limit),
    'X-RateLimit-Remaining': String(Math.max(0, window.remaining)),
    'X-RateLimit-Reset': String(dialect === 'users-track' ? left : Math.ceil(window.resetAtMs / 1000)),
  };
  if (refused) headers['X-RateLimit-Retry-After'] = String(left);
  return headers;
};
