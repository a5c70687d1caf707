import type { Fail } from '../notice.ts';

/** For work that nothing waits for: its failure is a notice, and not thrown into the page. */
export const createInBackground =
  (fail: Fail) =>
  (work: Promise<unknown>): void => {
    work.catch((cause) => fail('internal', 'Something unexpected went wrong', cause));
  };

export type InBackground = ReturnType<typeof createInBackground>;
