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
