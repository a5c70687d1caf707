import type { PageLifecycle } from './page-lifecycle.ts';

/** Messages between the tabs of a browser profile. A tab that misses one finds the same state in the store. */
export interface TabChannel<M> {
  post(message: M): void;
  /** Calls `listener` on each message. Returns a function that unsubscribes. */
  subscribe(listener: (message: M) => void): () => void;
  close(): void;
}

/** Subset of `BroadcastChannel`. */
export interface BroadcastChannelLike {
  /** Sends a message to every other tab. */
  postMessage(message: unknown): void;
  /** Calls `listener` with the messages of other tabs. */
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  /** Stops sending and receiving. */
  close(): void;
}

/**
 * Creates a channel on `BroadcastChannel` that is closed while the page is in the back/forward cache, because an open channel
 * keeps a page out of the cache in some engines. If `BroadcastChannel` is missing or denied, posting does nothing, because the
 * store is authoritative and messages only speed up its changes.
 */
export const createTabChannel = <M>(
  name: string,
  lifecycle: PageLifecycle,
  open: ((name: string) => BroadcastChannelLike) | undefined = typeof BroadcastChannel === 'undefined'
    ? undefined
    : (channelName) => new BroadcastChannel(channelName),
): TabChannel<M> => {
  const listeners = new Set<(message: M) => void>();
  let channel: BroadcastChannelLike | undefined;

  const connect = () => {
    if (channel !== undefined) return;
    try {
      channel = open?.(name);
    } catch {
      // A sandboxed frame may have the constructor and deny its use. Tabs then see changes only in the store.
      return;
    }
    channel?.addEventListener('message', ({ data }) => {
      for (const listener of [...listeners]) {
        try {
          listener(data as M);
        } catch {
          // Any script of the origin may post under this name. Unusable messages are ignored.
        }
      }
    });
    // Node keeps a process alive for an open channel. Browsers do not have this method.
    Object(channel).unref?.();
  };
  const disconnect = () => {
    channel?.close();
    channel = undefined;
  };

  connect();
  const stops = [lifecycle.on('pagehide', disconnect), lifecycle.on('restored', connect)];

  return {
    post(message) {
      const isOpen = channel !== undefined;
      // A stopped client still announces a wipe.
      if (!isOpen) connect();
      channel?.postMessage(message);
      if (!isOpen) disconnect();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      for (const stop of stops) stop();
      listeners.clear();
      disconnect();
    },
  };
};
