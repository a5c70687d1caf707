import type { Notice } from '../notice.ts';
import type { EventKey, Meta } from './records.ts';

/** What the tabs tell each other; whoever misses it finds the same in the store. */
export type TabNews =
  /** Nobody sends any more: whoever waits may. */
  | { type: 'idle' }
  /** These left the queue. */
  | { type: 'gone'; keys: EventKey[] }
  /** The service worker has no host to tell what became of an event: each page tells its own. */
  | { type: 'notice'; notice: Notice }
  | { type: 'consent'; state: Meta['consent'] }
  | { type: 'wiped' };
