/**
 * What happens to a page. `leave` is `pagehide`: the page is going away or into the back/forward cache; `restored`
 * is its return from there. `activated` ends a prerendering.
 */
export type Moment = 'visible' | 'hidden' | 'leave' | 'restored' | 'resumed' | 'activated' | 'online';

/** Whether the page is visible, and what happens to it. */
export interface PageLifecycle {
  /** True while people can see the page. Without a document always true. */
  isVisible(): boolean;
  /** True until a prerendered page is shown: nothing may be requested, counted or sent before. */
  isPrerendering(): boolean;
  /** Resolves at once on an ordinary page, on activation of a prerendered one. */
  whenActivated(): Promise<void>;
  /** Calls `listener` each time; returns a function that stops it. */
  on(moment: Moment, listener: () => void): () => void;
}

interface LifecycleTarget {
  document?: (Document & { prerendering?: boolean }) | undefined;
  window?: Window | undefined;
}

/**
 * The only file that touches the page's lifecycle events. There is no `unload` or `beforeunload` here: either would
 * keep the page out of the back/forward cache. Without a document (Node, a service worker) the page counts as visible
 * and nothing ever happens to it.
 */
export const createPageLifecycle = ({
  document = globalThis.document,
  window = globalThis.window,
}: LifecycleTarget = {}): PageLifecycle => {
  const listeners = new Map<Moment, Set<() => void>>();
  let detach: (() => void) | undefined;

  const emit = (moment: Moment) => {
    for (const listener of [...(listeners.get(moment) ?? [])]) listener();
  };
  const isVisible = () => document === undefined || document.visibilityState === 'visible';
  const isPrerendering = () => document?.prerendering === true;

  const attach = () => {
    if (document === undefined || window === undefined) return;
    const abort = new AbortController();
    const listen = (target: EventTarget, type: string, moment: (event: Event) => Moment | undefined) => {
      const listener = (event: Event) => {
        const now = moment(event);
        if (now) emit(now);
      };
      target.addEventListener(type, listener, { signal: abort.signal });
    };
    listen(document, 'visibilitychange', () => (isVisible() ? 'visible' : 'hidden'));
    listen(document, 'resume', () => 'resumed');
    listen(document, 'prerenderingchange', () => 'activated');
    listen(window, 'pagehide', () => 'leave');
    listen(window, 'pageshow', (event) => ('persisted' in event && event.persisted ? 'restored' : undefined));
    listen(window, 'online', () => 'online');
    detach = () => abort.abort();
  };

  const on = (moment: Moment, listener: () => void) => {
    if (detach === undefined) attach();
    // A fresh function, so that the same listener can be there twice and leave once.
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

/** Signs that the network or the user is back. */
const RETURNS: Moment[] = ['visible', 'online', 'resumed', 'activated', 'restored'];

/** Calls `listener` at each such sign; returns a function that stops it. */
export const onReturn = (lifecycle: PageLifecycle, listener: () => void): (() => void) => {
  const stops = RETURNS.map((moment) => lifecycle.on(moment, listener));
  return () => {
    for (const stop of stops) stop();
  };
};
