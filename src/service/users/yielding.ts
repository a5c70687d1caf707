/** How long a request may be worked on before others get their turn. */
const SLICE_MS = 5;
/** Reading the clock for every small object would cost more than checking it. */
const READ_EVERY = 4;

/** Yields to the event loop: a body of megabytes must not keep other requests waiting until all of it is checked. */
export const createYielding = () => {
  let started = performance.now();
  let calls = 0;
  return {
    /** To be called after each piece of work; where it is true, await `yield`. */
    isDue(): boolean {
      calls += 1;
      return calls % READ_EVERY === 0 && performance.now() - started > SLICE_MS;
    },
    async yield(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      started = performance.now();
    },
  };
};
