import type { Banner, BannerEvent } from './banner.ts';

/** Reason that an event was dropped. */
export type DropReason =
  | 'max-attempts' // rejected `maxAttempts` times: kept as a dead letter
  | 'rejected' // rejected alone, or `onEventRejected` returned `null`: kept as a dead letter
  | 'discarded' // dead letter discarded by the host, or in doubt with `at-most-once`
  | 'evicted' // over a cap or the storage quota
  | 'expired' // older than `maxAgeMs`
  | 'purged'; // opt-out with `'purge'`

/** Kind of a failure. `message` of the notice is for developers. */
export type FailureKind =
  | 'config' // an option or argument is wrong
  | 'sync' // a sync had no usable response
  | 'refresh-budget' // the refresh budget is empty
  | 'delivery' // a batch had no usable response; its events stay queued
  | 'unauthorized' // 401, 403 or no user token: sending waits for another key or token, and retries this key once an hour
  | 'not-found' // 404: sending pauses, and is retried every 15 minutes
  | 'chunk-load' // a chunk of the client could not be loaded; it is retried
  | 'internal' // a bug in the client
  | 'storage' // IndexedDB is absent, blocked, full or lost
  | 'protocol' // the server's response is inconsistent
  | 'invalid-banner' // a banner is invalid for its placement
  | 'url' // the scheme of a URL is not allowed
  | 'image' // an image of a banner could not be loaded
  | 'hook' // a placement hook or `shouldShow` threw, or `shouldShow` is still pending
  | 'correction' // `onEventRejected` threw or returned an invalid event
  | 'listener'; // a subscriber threw

/** Reason for a pause. */
export type PauseReason = 'backoff' | 'rate-limit' | 'offline' | 'unauthorized' | 'not-found';

/** Event of the client's operation, passed to the listeners of `subscribe`. */
export type Notice =
  /** A sync result is in the cache, or in memory if nothing can be stored. */
  | { type: 'synced'; placements: string[]; banners: Record<string, Banner | null> }
  /** The result of `banner()` may have changed: by a sync, another tab, a dismissal or a sign-out. */
  | { type: 'changed' }
  /** A banner was rendered in a slot. */
  | { type: 'shown'; banner: Banner; from: 'cache' | 'sync' }
  /** A slot shows no banner. `blocked`: `shouldShow` returned `false`. `user`: the banner belongs to another user. */
  | {
      type: 'hidden';
      placementId: string;
      reason: 'none' | 'expired' | 'dismissed' | 'user' | 'invalid' | 'control' | 'blocked';
    }
  /** An event was stored. */
  | { type: 'tracked'; event: BannerEvent }
  /** The service accepted these events. */
  | { type: 'delivered'; events: BannerEvent[] }
  /** The service rejected an event. `attempts` is the number of responses that have rejected it. */
  | { type: 'rejected'; event: BannerEvent; reason: string; attempts: number }
  /** No response says whether these events were accepted: there was none, or a proxy's, or it was unreadable. */
  | { type: 'in-doubt'; events: BannerEvent[] }
  /** An event left the queue undelivered. `detail` is for developers. */
  | { type: 'dropped'; event: BannerEvent; reason: DropReason; detail?: string }
  /** Requests of the sync or of the delivery pause until `untilMs`, in Unix milliseconds. */
  | {
      type: 'paused';
      untilMs: number;
      reason: PauseReason;
    }
  /** Events are kept in memory from now on (`on` is `true`), or on disk again. */
  | { type: 'memory-mode'; on: boolean; reason?: string }
  /** Consent has changed. While it is pending, the state is `enabled`. */
  | { type: 'consent'; state: 'enabled' | 'disabled' }
  /** An operation failed. `message` is for developers. */
  | { type: 'failed'; kind: FailureKind; message: string; cause?: unknown };

/** Receives every notice. If it throws, the other listeners get a `failed` notice. */
export type Listener = (notice: Notice) => void;
/** Emits a notice. Never throws. */
export type Notify = (notice: Notice) => void;
/** Emits a `failed` notice. Never throws. */
export type Fail = (kind: FailureKind, message: string, cause?: unknown) => void;

export interface Notices {
  notify: Notify;
  fail: Fail;
  subscribe(listener: Listener): () => void;
}

/** Creates the notice emitter. A listener that throws affects neither the others nor the client. */
export const createNotices = (): Notices => {
  const listeners = new Set<Listener>();
  const notify: Notify = (notice) => {
    for (const listener of [...listeners]) {
      try {
        listener(notice);
      } catch (cause) {
        // A listener that throws on its own failure notice would loop forever.
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
      // Wrapped, so that the same function can be subscribed twice and unsubscribed once.
      const entry: Listener = (notice) => listener(notice);
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
  };
};
