import type { DeliveryContext } from './context.ts';
import { type EventKey, keyText, type QueuedEvent } from './log/records.ts';

/** More than a last flush can carry; older ones are left to the page that reads the log next. */
const MAX_EVENTS = 1_600;

/**
 * What this page captured and no request holds yet, in memory: a page that goes away cannot wait for the disk. It may
 * name events that are gone; sending one again is harmless to a service that counts each event once.
 */
export const createUnsent = ({ consent, news, lifecycle }: DeliveryContext) => {
  const waiting = new Map<string, QueuedEvent>();
  const drop = (keys: string[]): void => {
    for (const key of keys) waiting.delete(key);
  };
  const inRequest = (keys: EventKey[]): void => drop(keys.map(keyText));
  // Other tabs may have sent meanwhile what this one remembers.
  const stop = lifecycle.on('restored', () => waiting.clear());
  news.subscribe((item) => {
    if (item.type === 'gone') drop(item.keys);
  });
  consent.subscribe(() => {
    if (!consent.maySend()) waiting.clear();
  });

  return {
    add(kept: QueuedEvent[]): void {
      for (const item of kept) waiting.set(keyText(item.key), item);
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MAX_EVENTS) break;
        waiting.delete(oldest);
      }
    },
    /** These are part of a request now. */
    inRequest,
    /** These left the log: the other tabs need not remember them either. */
    removed(keys: EventKey[]): void {
      inRequest(keys);
      if (keys.length > 0) news.post({ type: 'gone', keys: keys.map(keyText) });
    },
    waiting: (): QueuedEvent[] => [...waiting.values()],
    size: (): number => waiting.size,
    stop,
  };
};

export type Unsent = ReturnType<typeof createUnsent>;
