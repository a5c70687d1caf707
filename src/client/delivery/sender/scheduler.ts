import type { Moment } from '../../platform/page-lifecycle.ts';
import type { DeliveryContext } from '../context.ts';

/** How long a page whose CORS preflight is cold waits for a pause before it sends the first events early. */
const COLD_QUIET_MS = 250;
/** After an answer the preflight is taken to be warm for this long; browsers keep it up to two hours. */
const WARM_MS = 9 * 60_000;
/** Signs that the network or the user is back. */
const RECONNECTS: Moment[] = ['visible', 'online', 'resumed', 'activated', 'restored'];

/**
 * Decides when to look for a batch. Events wait `maxWaitMs` for company, with one exception: while no request went out
 * lately the first ones leave at the first pause, so that the last flush of the page finds the preflight answered.
 * `onDue` looks for a batch, with `all` for whatever waits; `onReconnect` is called when the network or the user is back.
 */
export const createScheduler = (
  context: DeliveryContext,
  onDue: (all: boolean) => void,
  onReconnect: () => void,
) => {
  const { clock, lifecycle, news, options } = context;
  const { maxWaitMs } = options;
  let cancelTimer: () => void = () => undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let cancelQuiet: () => void = () => undefined;
  let warmUntil = Number.NEGATIVE_INFINITY;
  let reconnects = 0;
  /** What was under way then still comes to an end, and requests a look. */
  let isStopped = false;
  /** Ends the wait for another tab. */
  let wake: () => void = () => undefined;

  const wakeAt = (time: number): void => {
    if (isStopped || time >= timerAt) return;
    cancelTimer();
    timerAt = time;
    cancelTimer = clock.after(Math.max(0, time - clock.now()), () => {
      timerAt = Number.POSITIVE_INFINITY;
      onDue(false);
    });
  };

  const stops = RECONNECTS.map((moment) =>
    lifecycle.on(moment, () => {
      reconnects += 1;
      onReconnect();
    }),
  );

  return {
    /** Looks again at `time` (Unix milliseconds), or earlier where an earlier look is due. */
    wakeAt,
    /** Events were stored. */
    onAppended(): void {
      wakeAt(clock.now() + maxWaitMs);
      if (isStopped || clock.monotonic() < warmUntil) return;
      cancelQuiet();
      cancelQuiet = clock.after(Math.min(COLD_QUIET_MS, maxWaitMs), () => onDue(true));
    },
    /** An answer came: the preflight is warm. */
    answered(): void {
      warmUntil = clock.monotonic() + WARM_MS;
      cancelQuiet();
    },
    /** Resolves when the tab that sends has an answer, at `time` at the latest. */
    untilIdle: (time: number): Promise<void> =>
      new Promise((resolve) => {
        const stop = news.subscribe(({ type }) => type === 'idle' && wake());
        const cancel = clock.after(Math.max(0, time - clock.now()), () => wake());
        wake = () => {
          stop();
          cancel();
          resolve();
        };
      }),
    /** How often the network or the user has come back so far. */
    reconnects: () => reconnects,
    stop(): void {
      isStopped = true;
      cancelTimer();
      cancelQuiet();
      wake();
      for (const stop of stops) stop();
    },
  };
};

export type Scheduler = ReturnType<typeof createScheduler>;
