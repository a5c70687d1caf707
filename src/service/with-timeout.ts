/** Returns the result of `work`, or `undefined` if it fails or takes longer than `ms`. */
export const withTimeout = async <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  // Two timers, because after a stall of the process a single one would fire before a result that has already arrived.
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      timer = setTimeout(() => resolve(undefined), ms / 2);
    }, ms / 2);
  });
  const done = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return done;
};
