import type { Clock } from './clock.ts';

/**
 * Runs `callback` after `ms`, and returns a function that cancels it. It uses two timers, one after the other. When a page
 * was suspended, a timer and the answer that it waits for are both due at once, and the engine may run the timer first. The
 * second timer starts after that, so the answer comes before it.
 */
export const afterTimeout = (after: Clock['after'], ms: number, callback: () => void): (() => void) => {
  let cancel = after(ms / 2, () => {
    cancel = after(ms / 2, callback);
  });
  return () => cancel();
};

/** Rejects where the work takes longer than `ms`; its result is ignored after that. `name` is for the message. */
export const withTimeout = <T>(
  work: T | Promise<T>,
  after: Clock['after'],
  ms: number,
  name: string,
): Promise<T> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = afterTimeout(after, ms, () => reject(new Error(`${name} did not answer within ${ms} ms`)));
  });
  return Promise.race([work, late]).finally(cancel);
};
