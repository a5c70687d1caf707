import type { Inspection } from '../inspector/index.ts';
import type { Fail, Notify } from '../notice.ts';

/** Notices of before the inspector is opened that it finds. */
const MAX_RECENT = 50;

/** Passes notices on, and remembers the last of them for the inspector. */
export const createRecentNotices = (listener: Notify, now: () => number) => {
  const recent: Inspection['recent'] = [];
  const notify: Notify = (notice) => {
    // Thousands of events may be tracked in one task, and tell nothing that the counters do not.
    if (notice.type !== 'tracked') recent.push({ at: now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
    listener(notice);
  };
  const fail: Fail = (kind, message, cause) =>
    notify({ type: 'failed', kind, message, ...(cause !== undefined && { cause }) });
  return { notify, fail, recent: () => [...recent] };
};
