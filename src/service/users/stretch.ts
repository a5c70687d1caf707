/** How long a request may be worked on before others get their turn. */
const STRETCH_MS = 5;
/** Asking the clock for every small object would cost more than checking it. */
const ASK_EVERY = 4;

/** Parts long work into stretches: a body of megabytes must not keep the others waiting until all of it is checked. */
export const createStretch = () => {
  let started = performance.now();
  let asked = 0;
  return {
    /** To be asked after each piece of work; where it is over, `rest` is to be awaited. */
    isOver(): boolean {
      asked += 1;
      return asked % ASK_EVERY === 0 && performance.now() - started > STRETCH_MS;
    },
    async rest(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      started = performance.now();
    },
  };
};
