import type { PageLifecycle } from './page-lifecycle.ts';

/** Sends messages to the other tabs of this browser profile. A tab that misses one finds the same in the store. */
export interface TabChannel<M> {
  post(message: M): void;
  /** Returns a function that stops it. */
  subscribe(listener: (message: M) => void): () => void;
  close(): void;
}

/** What a BroadcastChannel offers, as far as it is used. */
export interface TabLink {
  /** Sends to every other tab. */
  postMessage(message: unknown): void;
  /** Receives what other tabs send. */
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  /** Receives and sends nothing any more. */
  close(): void;
}

/**
 * A BroadcastChannel that is closed while the page is away: an open one keeps a page out of the back/forward cache on
 * some engines. Where there is none, or it is denied, posting does nothing: the store is the truth, the channel only
 * a nudge.
 */
export const createTabChannel = <M>(
  name: string,
  lifecycle: PageLifecycle,
  open: ((name: string) => TabLink) | undefined = typeof BroadcastChannel === 'undefined'
    ? undefined
    : (channelName) => new BroadcastChannel(channelName),
): TabChannel<M> => {
  const listeners = new Set<(message: M) => void>();
  let channel: TabLink | undefined;

  const connect = () => {
    if (channel !== undefined) return;
    try {
      channel = open?.(name);
    } catch {
      // A sandboxed frame may have the constructor and refuse its use; the store alone then carries the news.
      return;
    }
    channel?.addEventListener('message', ({ data }) => {
      for (const listener of [...listeners]) {
        try {
          listener(data as M);
        } catch {
          // Any script of this origin may post under this name: what a listener cannot use is passed over.
        }
      }
    });
    // Node keeps a process alive for an open channel; a browser has no such method.
    Object(channel).unref?.();
  };
  const disconnect = () => {
    channel?.close();
    channel = undefined;
  };

  connect();
  const stops = [lifecycle.on('leave', disconnect), lifecycle.on('restored', connect)];

  return {
    post(message) {
      const isOpen = channel !== undefined;
      // A client that has stopped still tells of a wipe.
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
