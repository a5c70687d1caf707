import type { Fail, Listener, Notify } from '../notice.ts';

export interface Notices {
  notify: Notify;
  fail: Fail;
  subscribe(listener: Listener): () => void;
}

/** Calls every subscriber with what happened; one that throws harms neither the others nor the client. */
export const createNotices = (): Notices => {
  const listeners = new Set<Listener>();
  const notify: Notify = (notice) => {
    for (const listener of [...listeners]) {
      try {
        listener(notice);
      } catch (cause) {
        // A listener that throws on the news of its own failure would never come to an end.
        if (notice.type === 'failed' && notice.kind === 'listener') continue;
        fail('listener', 'A subscriber threw', cause);
      }
    }
  };
  const fail: Fail = (kind, message, cause) => notify({ type: 'failed', kind, message, cause });
  return {
    notify,
    fail,
    subscribe(listener) {
      // Wrapped, so that the same function subscribed twice is called twice and can leave once.
      const entry: Listener = (notice) => listener(notice);
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
  };
};
