import type { StoreKey } from '../platform/store.ts';
import { isJotting } from './jottings.ts';
import { isBatch, isEventKey, readEvent } from './records.ts';

/** Its record names itself as its key does; under another name nobody would ever find it again. */
const isInPlace = (id: StoreKey, record: { id: string }): boolean => record.id === id;

/** A record in an event's, a batch's or a jotting's place that nobody can use, and no newer version has written. */
export const isCorrupt = ([key, record]: [StoreKey, unknown]): boolean => {
  const [range, , kind, id] = key as StoreKey[];
  const event = readEvent(record);
  if (record === undefined || event === 'foreign') return false;
  if (range === 'event') return event === 'corrupt' || !isEventKey(key);
  if (kind === 'batch') return !isBatch(record) || !isInPlace(id!, record);
  return kind === 'jotting' && (!isJotting(record) || !isInPlace(id!, record));
};
