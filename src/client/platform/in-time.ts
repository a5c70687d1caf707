import type { Clock } from './clock.ts';
import { outOfPatience } from './patience.ts';

/** Rejects where the work takes longer than `limitMs`; nobody hears what it comes to after that. */
export const inTime = <T>(
  work: T | Promise<T>,
  after: Clock['after'],
  limitMs: number,
  what: string,
): Promise<T> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = outOfPatience(after, limitMs, () =>
      reject(new Error(`${what} did not answer within ${limitMs} ms`)),
    );
  });
  return Promise.race([work, late]).finally(cancel);
};
