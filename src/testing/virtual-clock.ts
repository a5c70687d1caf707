/** Clock that advances only on request. Compatible with the client's `platform` and any code that accepts `setTimeout`. */
export interface VirtualClock {
  /** Returns the device's time in Unix milliseconds. */
  now: () => number;
  /** Returns monotonic milliseconds, unaffected by `jump`. */
  monotonic: () => number;
  /** Runs `callback` after the test has advanced the clock by `delayMs`. */
  setTimeout: (callback: () => void, delayMs?: number) => number;
  /** Cancels a timer. */
  clearTimeout: (timer: number | undefined) => void;
  /** Runs `callback` once after `delayMs`. Returns a function that cancels it. */
  after: (delayMs: number, callback: () => void) => () => void;
  /**
   * Advances the clock. Runs due timers in order. The promises and messages that a timer started settle before the next timer
   * runs.
   */
  advance: (ms: number) => Promise<void>;
  /** Runs timers until `done` returns `true`. Fails after `limitMs` of virtual time. */
  until: (done: () => boolean | Promise<boolean>, limitMs?: number) => Promise<void>;
  /** Shifts the device's clock by `ms`, without affecting `monotonic`. */
  jump: (ms: number) => void;
  /** Returns the number of pending timers. A stopped client leaves none. */
  pending: () => number;
}

interface Timer {
  id: number;
  dueMs: number;
  callback: () => void;
}

const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_LIMIT_MS = 24 * 60 * 60 * 1000;
/** Macrotask rounds that settle promise chains, including those across a stream or message channel. */
const SETTLE_ROUNDS = 4;

const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

const settle = async (): Promise<void> => {
  for (let round = 0; round < SETTLE_ROUNDS; round += 1) await macrotask();
};

/** Creates a virtual clock. `startMs` is the initial device time; default 1 January 2026. */
export const createVirtualClock = (startMs: number = DEFAULT_START_MS): VirtualClock => {
  let elapsedMs = 0;
  let offsetMs = startMs;
  let lastId = 0;
  let timers: Timer[] = [];

  const next = (): Timer | undefined =>
    timers.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
      undefined,
    );

  const setTimer = (callback: () => void, delayMs = 0): number => {
    lastId += 1;
    timers.push({ id: lastId, dueMs: elapsedMs + Math.max(0, delayMs), callback });
    return lastId;
  };
  const clearTimer = (id: number | undefined): void => {
    timers = timers.filter((timer) => timer.id !== id);
  };
  const run = (timer: Timer): void => {
    clearTimer(timer.id);
    elapsedMs = Math.max(elapsedMs, timer.dueMs);
    timer.callback();
  };

  return {
    now: () => offsetMs + elapsedMs,
    monotonic: () => elapsedMs,
    setTimeout: setTimer,
    clearTimeout: clearTimer,
    after(delayMs, callback) {
      const id = setTimer(callback, delayMs);
      return () => clearTimer(id);
    },
    async advance(ms) {
      const end = elapsedMs + ms;
      await settle();
      for (let timer = next(); timer !== undefined && timer.dueMs <= end; timer = next()) {
        run(timer);
        await settle();
      }
      elapsedMs = end;
    },
    async until(done, limitMs = DEFAULT_LIMIT_MS) {
      const end = elapsedMs + limitMs;
      await settle();
      while (!(await done())) {
        const timer = next();
        if (timer === undefined || timer.dueMs > end) {
          throw new Error(
            timer === undefined
              ? 'Condition not met, and no timer is pending'
              : `Condition not met after ${limitMs} ms of virtual time`,
          );
        }
        run(timer);
        await settle();
      }
    },
    jump(ms) {
      offsetMs += ms;
    },
    pending: () => timers.length,
  };
};
