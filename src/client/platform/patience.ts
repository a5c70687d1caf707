import type { Clock } from './clock.ts';

/**
 * Runs `callback` when something has taken longer than `ms`, and answers a function that cancels it. In two halves: where
 * the page itself stood still, one timer and the answer that it waits for come due at the same time, and the order is the
 * engine's. A second timer is behind the answer.
 */
export const outOfPatience = (after: Clock['after'], ms: number, callback: () => void): (() => void) => {
  let cancel = after(ms / 2, () => {
    cancel = after(ms / 2, callback);
  });
  return () => cancel();
};
