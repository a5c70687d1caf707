import { MAX_WAIT_MS, type RateLimitInfo } from '../protocol/index.ts';

/** Waits, or rejects with the signal's reason as soon as it aborts. */
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
 * How long to wait after the `attempt`th failure (1, 2, …): full jitter under a bound that doubles, so that many callers
 * spread out. A wait that the server asked for is kept, with a little jitter on top.
 */
export const backoffMs = (attempt: number, random: number, serverWaitMs?: number): number => {
  const bound = Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1));
  return serverWaitMs === undefined ? random * bound : serverWaitMs + random * BASE_MS;
};

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

/** Keeps the requests to one endpoint within what its rate headers grant. */
export interface Pace {
  /** Resolves when a request may go out. */
  turn(signal?: AbortSignal): Promise<void>;
  /** Gives a turn back that no request came of. */
  release(): void;
  /** Receives the limits in an answer's headers; `refused` for a 429. */
  update(info: RateLimitInfo, refused: boolean): void;
}

export const createPace = (now: () => number, sleep: Sleep): Pace => {
  /** Requests the window still grants; unknown until an answer says so. */
  let left = Number.POSITIVE_INFINITY;
  let resetAtMs = 0;
  let closedUntilMs = 0;
  let underWay = 0;

  return {
    async turn(signal) {
      for (;;) {
        if (left <= 0 && now() >= resetAtMs) left = Number.POSITIVE_INFINITY;
        const waitMs = Math.max(closedUntilMs, left <= 0 ? resetAtMs : 0) - now();
        if (waitMs <= 0) break;
        await sleep(waitMs, signal);
      }
      left -= 1;
      underWay += 1;
    },
    release() {
      left += 1;
      underWay -= 1;
    },
    update({ remaining, resetAtMs: reset, retryAfterMs }, refused) {
      underWay -= 1;
      if (refused) {
        closedUntilMs = Math.max(closedUntilMs, now() + (retryAfterMs ?? 0));
        return;
      }
      if (remaining === undefined || reset === undefined) return;
      // The answer does not know of the requests that are still on their way.
      left = remaining - underWay;
      resetAtMs = Math.min(reset, now() + MAX_WAIT_MS);
    },
  };
};
