import type { Permission } from '../permission.ts';

/**
 * Lifecycle event of a page. `pagehide`: the page unloads or enters the back/forward cache. `restored` is its return
 * from the cache. `activated` is the end of prerendering.
 */
export type LifecycleEvent =
  | 'visible'
  | 'hidden'
  | 'pagehide'
  | 'restored'
  | 'resumed'
  | 'activated'
  | 'online';

/** Visibility and lifecycle events of the page. */
export interface PageLifecycle {
  /** Returns whether the page is visible. Always `true` without a document. */
  isVisible(): boolean;
  /** Returns `true` until a prerendered page is activated. Nothing may be requested, counted or sent before the activation. */
  isPrerendering(): boolean;
  /** Resolves at once on an ordinary page, or when a prerendered page is activated. */
  whenActivated(): Promise<void>;
  /** Calls `listener` on each event. Returns a function that unsubscribes. */
  on(moment: LifecycleEvent, listener: () => void): () => void;
}

interface LifecycleTarget {
  document?: (Document & { prerendering?: boolean }) | undefined;
  window?: Window | undefined;
}

/**
 * Creates the page lifecycle. No other file uses its events. It does not use `unload` or `beforeunload`, which would keep the
 * page out of the back/forward cache. Without a document (Node, a service worker), the page counts as visible and has no
 * events.
 */
export const createPageLifecycle = ({
  document = globalThis.document,
  window = globalThis.window,
}: LifecycleTarget = {}): PageLifecycle => {
  const listeners = new Map<LifecycleEvent, Set<() => void>>();
  let detach: (() => void) | undefined;

  const emit = (moment: LifecycleEvent) => {
    for (const listener of [...(listeners.get(moment) ?? [])]) listener();
  };
  const isVisible = () => document === undefined || document.visibilityState === 'visible';
  const isPrerendering = () => document?.prerendering === true;

  const attach = () => {
    if (document === undefined || window === undefined) return;
    const abort = new AbortController();
    const listen = (
      target: EventTarget,
      type: string,
      moment: (event: Event) => LifecycleEvent | undefined,
    ) => {
      const listener = (event: Event) => {
        const now = moment(event);
        if (now) emit(now);
      };
      target.addEventListener(type, listener, { signal: abort.signal });
    };
    listen(document, 'visibilitychange', () => (isVisible() ? 'visible' : 'hidden'));
    listen(document, 'resume', () => 'resumed');
    listen(document, 'prerenderingchange', () => 'activated');
    listen(window, 'pagehide', () => 'pagehide');
    listen(window, 'pageshow', (event) => ('persisted' in event && event.persisted ? 'restored' : undefined));
    listen(window, 'online', () => 'online');
    detach = () => abort.abort();
  };

  const on = (moment: LifecycleEvent, listener: () => void) => {
    if (detach === undefined) attach();
    // A new function, so that the same listener can be added twice and removed once.
    const entry = () => listener();
    const entries = listeners.get(moment) ?? new Set();
    listeners.set(moment, entries.add(entry));
    return () => {
      entries.delete(entry);
      if ([...listeners.values()].some((set) => set.size > 0)) return;
      detach?.();
      detach = undefined;
    };
  };

  return {
    isVisible,
    isPrerendering,
    whenActivated: () =>
      new Promise((resolve) => {
        if (!isPrerendering()) return resolve();
        const stop = on('activated', () => {
          stop();
          resolve();
        });
      }),
    on,
  };
};

/** Events after which the network or the user is back. */
const RETURNS: LifecycleEvent[] = ['visible', 'online', 'resumed', 'activated', 'restored'];

/** Calls `listener` when the network or the user is back. Returns a function that unsubscribes. */
export const onReturn = (lifecycle: PageLifecycle, listener: () => void): (() => void) => {
  const stops = RETURNS.map((moment) => lifecycle.on(moment, listener));
  return () => {
    for (const stop of stops) stop();
  };
};

export type LivePermission<P extends Permission = Permission> = P & {
  /** Returns whether anything may be stored on the device. */
  canWrite: () => boolean;
  /** Returns whether banners may be requested. Never while the page is prerendered. */
  canSync: () => boolean;
  /** Returns whether queued events may be sent. Never while the page is prerendered. */
  canSend: () => boolean;
};

/** Adds what also depends on the page. It is separate from `permission.ts`, because no cached banner needs it. */
export const withLifecycle = <P extends Permission>(
  permission: P,
  { isPrerendering }: Pick<PageLifecycle, 'isPrerendering'>,
): LivePermission<P> => ({
  ...permission,
  canWrite: () => permission.mayWrite() && !permission.isStopped(),
  canSync: () => permission.isActive() && !isPrerendering(),
  canSend: () => permission.maySend() && !permission.isStopped() && !isPrerendering(),
});

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
