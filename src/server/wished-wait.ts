import type { RateLimitInfo } from '../protocol/index.ts';

/** The wait that a 429 or 5xx asks for, in milliseconds; nothing where it asks for none. */
export const wishedWaitMs = (
  status: number,
  headers: Headers,
  { retryAfterMs }: RateLimitInfo,
): number | undefined => {
  // A 5xx may carry the reset of a window that is not used up, which is no wish.
  if (status !== 429 && !headers.has('retry-after')) return undefined;
  // A time that has passed already (our clock and the server's differ) is none either: it would make us hammer.
  return retryAfterMs === 0 ? undefined : retryAfterMs;
};
