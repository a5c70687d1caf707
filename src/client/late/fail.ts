import type { Fail, Notify } from '../notice.ts';

/** For the late chunk: the first one has its own, in `notices.ts`, because bundlers pay for what two chunks share. */
export const createFail =
  (notify: Notify): Fail =>
  (kind, message, cause) =>
    notify({ type: 'failed', kind, message, ...(cause !== undefined && { cause }) });
