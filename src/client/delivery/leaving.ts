/** What a page does when it may not come back: whoever outlives it sends what is left, and else it does so itself. */
export const createLeaving = (options: {
  /** True where somebody else took it over, and reads the answers too. */
  handOver(): boolean;
  /** Resolves with how many events were delivered. */
  lastFlush(): Promise<number>;
  onFailed(cause: unknown): void;
}) => {
  /** The last flushes whose answers are out. */
  let underWay = Promise.resolve(0);

  return {
    leave() {
      if (options.handOver()) return;
      const flushed = Promise.all([underWay, options.lastFlush()]).then(
        ([before, now]) => before + now,
        (cause) => {
          options.onFailed(cause);
          return 0;
        },
      );
      underWay = flushed;
      void flushed.then(() => {
        if (underWay === flushed) underWay = Promise.resolve(0);
      });
    },
    /** How many events the flushes under way deliver. */
    delivered: () => underWay,
  };
};
