import type { Clock } from './clock.ts';

/**
 * Runs `callback` after `ms`, and returns a function that cancels it. In two halves: where the page itself stood still,
 * one timer and the answer that it guards come due at the same time, and the order is the engine's. A second timer is
 * behind the answer.
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
