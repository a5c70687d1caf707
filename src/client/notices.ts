import type { Banner, BannerEvent } from './banner.ts';

/** Why an event was given up. */
export type DropReason =
  | 'attempts' // skipped by the server too often: kept as a dead letter
  | 'rejected' // refused alone, or given up by `correct()`: kept as a dead letter
  | 'discarded' // the host discarded the dead letter, or it was in doubt and may be sent only once
  | 'evicted' // a cap or the quota pushed it out
  | 'expired' // older than the age cap
  | 'purged'; // opt-out or wipe

/** Why the client could not do something; `message` is for developers. */
export type FailureKind =
  | 'config' // an option or argument is wrong
  | 'sync' // a sync had no usable answer
  | 'budget' // the refresh budget is empty
  | 'deliver' // a batch had no usable answer; it stays stored
  | 'unauthorized' // 401 or 403: sending waits for another key, and tries this one again once an hour
  | 'not-found' // 404: parked, probed slowly
  | 'load' // a chunk of the client could not be loaded: it is tried again
  | 'internal' // a bug of the client itself
  | 'storage' // IndexedDB is absent, blocked, full or lost
  | 'answer' // the server's answer contradicts itself
  | 'property' // a banner property does not have its declared type
  | 'url' // a URL was refused for its scheme
  | 'image' // an image of a banner could not be loaded
  | 'hook' // a placement hook threw
  | 'correct' // the correction hook threw
  | 'listener'; // a subscriber threw

/** Why nothing may be sent for a while. */
export type WaitReason = 'backoff' | 'rate-limit' | 'offline' | 'unauthorized' | 'not-found';

/** What happened, one union: each carries just its facts. */
export type Notice =
  /** An answer is in the cache, or in memory where nothing can be stored. */
  | { type: 'synced'; placements: string[]; banners: Record<string, Banner | null> }
  /** What `banner()` answers may be something else now: a sync, another tab, a dismissal, a sign-out. */
  | { type: 'changed' }
  | { type: 'shown'; banner: Banner; from: 'cache' | 'sync' }
  | {
      type: 'emptied';
      placementId: string;
      reason: 'none' | 'expired' | 'dismissed' | 'user' | 'invalid' | 'control' | 'held';
    }
  | { type: 'tracked'; event: BannerEvent }
  | { type: 'delivered'; events: BannerEvent[] }
  | { type: 'skipped'; event: BannerEvent; reason: string; attempts: number }
  | { type: 'in-doubt'; events: BannerEvent[] }
  | { type: 'dropped'; event: BannerEvent; reason: DropReason; detail?: string }
  | {
      type: 'waiting';
      untilMs: number;
      reason: WaitReason;
    }
  | { type: 'memory-mode'; on: boolean; reason?: string }
  | { type: 'consent'; state: 'enabled' | 'disabled' }
  | { type: 'failed'; kind: FailureKind; message: string; cause?: unknown };

/** Receives every notice. What it throws is a `failed` notice to the other listeners. */
export type Listener = (notice: Notice) => void;
/** How the parts notify the host; never throws. */
export type Notify = (notice: Notice) => void;
/** The same for a `failed` notice. */
export type Fail = (kind: FailureKind, message: string, cause?: unknown) => void;

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
