import { MAX_WAIT_MS, type RateLimitInfo } from '../protocol/index.ts';

/** Rejects with the reason of the signal when it aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** `setTimeout` fires at once for a delay of 2³¹ ms or more. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(ms, MAX_TIMER_MS),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });

const BASE_MS = 500;
const CAP_MS = 60_000;

/**
 * Returns the delay in milliseconds after failure number `attempt` (from 1): exponential backoff with full jitter, or the
 * server's delay plus jitter.
 */
export const backoffMs = (attempt: number, random: number, serverWaitMs?: number): number => {
  const bound = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1));
  return serverWaitMs === undefined ? random * bound : serverWaitMs + random * BASE_MS;
};

/** Returns the delay that the response requests, in milliseconds; `undefined` if none. */
export const readRetryAfterMs = (
  status: number,
  headers: Headers,
  { retryAfterMs }: RateLimitInfo,
): number | undefined => {
  // The rate-limit reset of a 5xx belongs to a window that is not exhausted.
  if (status !== 429 && !headers.has('retry-after')) return undefined;
  // A reset in the past means that the clocks differ. It is ignored, because an immediate retry would overload the server.
  return retryAfterMs === 0 ? undefined : retryAfterMs;
};

/** Keeps the requests to one endpoint within its rate-limit headers. */
export interface RateLimiter {
  /** Resolves when a request may be sent. */
  acquire(signal?: AbortSignal): Promise<void>;
  /** Returns a permit without sending a request. */
  release(): void;
  update(info: RateLimitInfo, isLimited: boolean): void;
}

export const createRateLimiter = (now: () => number, sleep: Sleep): RateLimiter => {
  /** Requests left in the window; unlimited before the first response. */
  let left = Number.POSITIVE_INFINITY;
  let resetAtMs = 0;
  let closedUntilMs = 0;
  let inFlight = 0;

  return {
    async acquire(signal) {
      for (;;) {
        if (left <= 0 && now() >= resetAtMs) left = Number.POSITIVE_INFINITY;
        const waitMs = Math.max(closedUntilMs, left <= 0 ? resetAtMs : 0) - now();
        if (waitMs <= 0) break;
        await sleep(waitMs, signal);
      }
      left -= 1;
      inFlight += 1;
    },
    release() {
      left += 1;
      inFlight -= 1;
    },
    update({ remaining, resetAtMs: reset, retryAfterMs }, isLimited) {
      inFlight -= 1;
      if (isLimited) {
        closedUntilMs = Math.max(closedUntilMs, now() + (retryAfterMs ?? 0));
        return;
      }
      if (remaining === undefined || reset === undefined) return;
      // The response does not account for requests in flight.
      left = remaining - inFlight;
      resetAtMs = Math.min(reset, now() + MAX_WAIT_MS);
    },
  };
};
