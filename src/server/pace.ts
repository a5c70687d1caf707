import { MAX_WAIT_MS, type RateLimitInfo } from '../protocol/index.ts';
import type { Sleep } from './sleep.ts';

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
