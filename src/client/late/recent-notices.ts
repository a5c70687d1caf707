import type { Inspection } from '../inspector/index.ts';
import type { Notice } from '../notice.ts';
import type { LateContext } from './late-context.ts';

/** Notices of before the inspector is opened that it finds. */
const MAX_RECENT = 50;
/** Of these there may be thousands in one task; the counters and the slots tell the same. */
const LEFT_OUT: Notice['type'][] = ['tracked', 'changed', 'shown', 'emptied'];

/** Remembers the last notices for the inspector. */
export const rememberNotices = ({ settings, subscribe }: LateContext) => {
  const recent: Inspection['recent'] = [];
  const stop = subscribe((notice) => {
    if (!LEFT_OUT.includes(notice.type)) recent.push({ at: settings.platform.now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
  });
  return { recent: () => [...recent], stop };
};
