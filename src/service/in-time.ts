/** What `work` gives, or `undefined` where it fails or takes longer than `ms`. */
export const inTime = async <T>(work: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const done = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return done;
};
