import type { Clock } from '../../../src/client/platform/clock.ts';

/** Lets everything that is ready run: promises, fake IndexedDB, streams. */
export const settle = async (rounds = 12): Promise<void> => {
  for (let i = 0; i < rounds; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

export interface VirtualClock extends Clock {
  /** Goes on by `ms`, runs the timers on the way in their order, and lets everything settle after each. */
  advance(ms: number): Promise<void>;
  /** Sets the device's clock, as a user does: the monotonic one does not notice. */
  jump(ms: number): void;
  timers(): number;
}

export const createVirtualClock = (start = Date.UTC(2026, 2, 1, 9)): VirtualClock => {
  let elapsed = 0;
  let offset = start;
  const timers = new Map<object, { at: number; callback: () => void }>();
  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    after(delayMs, callback) {
      const id = {};
      timers.set(id, { at: elapsed + Math.max(0, delayMs), callback });
      return () => timers.delete(id);
    },
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next[0]);
        elapsed = Math.max(elapsed, next[1].at);
        next[1].callback();
        await settle();
      }
      elapsed = end;
      await settle();
    },
    jump(ms) {
      offset += ms;
    },
    timers: () => timers.size,
  };
};
