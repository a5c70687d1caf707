import type { Clock } from '../platform/clock.ts';

/** How long a page whose CORS preflight is cold waits for a pause before it sends the first events early. */
const COLD_QUIET_MS = 250;
/** After an answer the preflight is taken to be warm for this long; browsers keep it up to two hours. */
const WARM_MS = 9 * 60_000;

export interface EventBufferOptions {
  clock: Clock;
  maxWaitMs: number;
  /** `early`: send whatever waits, due or not. */
  onDue: (early: boolean) => void;
}

/**
 * Decides when to look for a batch. Events wait `maxWaitMs` for company, with one exception: while no request went out
 * lately the first ones leave at the first pause, so that the last flush of the page finds the preflight answered.
 */
export const createEventBuffer = ({ clock, maxWaitMs, onDue }: EventBufferOptions) => {
  let cancelTimer: () => void = () => undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelQuiet: () => void = () => undefined;
  let warmUntil = Number.NEGATIVE_INFINITY;
  /** What was under way then still comes to an end, and asks for a look. */
  let isStopped = false;

  const at = (time: number) => {
    if (isStopped || time >= timerAt) return;
    cancelTimer();
    timerAt = time;
    cancelTimer = clock.after(Math.max(0, time - clock.now()), () => {
      timerAt = Number.POSITIVE_INFINITY;
      onDue(false);
    });
  };

  return {
    /** Looks again at `time` (Unix milliseconds), or earlier when asked so already. */
    at,
    /** Events were stored. */
    added() {
      at(clock.now() + maxWaitMs);
      if (isStopped || clock.monotonic() < warmUntil) return;
      cancelQuiet();
      cancelQuiet = clock.after(Math.min(COLD_QUIET_MS, maxWaitMs), () => onDue(true));
    },
    /** An answer came: the preflight is warm. */
    answered() {
      warmUntil = clock.monotonic() + WARM_MS;
      cancelQuiet();
    },
    stop() {
      isStopped = true;
      cancelTimer();
      cancelQuiet();
    },
  };
};
