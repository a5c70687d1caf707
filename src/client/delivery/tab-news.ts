import type { EventKey, Meta } from './records.ts';

/** What the tabs tell each other; whoever misses it finds the same in the store. */
export type TabNews =
  /** Nobody sends any more: whoever waits may. */
  | { type: 'idle' }
  /** These left the queue. */
  | { type: 'gone'; keys: EventKey[] }
  | { type: 'consent'; state: Meta['consent'] }
  | { type: 'wiped' };
