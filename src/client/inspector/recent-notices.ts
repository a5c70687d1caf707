import type { LateContext } from '../late-context.ts';
import type { Notice } from '../notices.ts';
import type { Inspection } from './inspector.ts';

/** Notices of before the inspector is opened that it finds. */
const MAX_RECENT = 50;
/** Of these there may be thousands in one task, and the counters and the slots show the same. */
const LEFT_OUT: Notice['type'][] = ['tracked', 'changed', 'shown', 'emptied'];

/** What a hook has thrown is left out as well: the stack of an error keeps the nodes of a page that are gone. */
const isKept = (notice: Notice): boolean =>
  !LEFT_OUT.includes(notice.type) && !(notice.type === 'failed' && notice.kind === 'hook');

/** Remembers the last notices for the inspector. */
export const rememberNotices = ({ settings, subscribe }: LateContext) => {
  const recent: Inspection['recent'] = [];
  const stop = subscribe((notice) => {
    if (isKept(notice)) recent.push({ at: settings.platform.now(), notice });
    if (recent.length > MAX_RECENT) recent.shift();
  });
  return { recent: () => [...recent], stop };
};
