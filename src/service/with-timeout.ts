/** What `work` gives, or `undefined` where it fails or takes longer than `ms`. */
export const withTimeout = async <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  // In two halves: where the process itself stood still, one timer would run before the answer that is there by now.
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      timer = setTimeout(() => resolve(undefined), ms / 2);
    }, ms / 2);
  });
  const done = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return done;
};
