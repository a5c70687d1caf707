import type { PageLifecycle } from '../client/index.ts';
import { createPageLifecycle } from '../client/platform/index.ts';

/**
 * Page lifecycle as reported by the native host, because a webview behind another screen often stays `visible`. While paused, the
 * page counts as hidden, so that no impressions count and pending events are sent at once.
 */
export const createHostLifecycle = (page: PageLifecycle = createPageLifecycle()) => {
  const listeners = { visible: new Set<() => void>(), hidden: new Set<() => void>() };
  let isPaused = false;

  const lifecycle: PageLifecycle = {
    ...page,
    isVisible: () => !isPaused && page.isVisible(),
    on(moment, listener) {
      if (moment !== 'visible' && moment !== 'hidden') return page.on(moment, listener);
      // A paused page is already hidden; another transition would cause a second exit flush.
      const entry = () => {
        if (!isPaused) listener();
      };
      listeners[moment].add(listener);
      const stop = page.on(moment, entry);
      return () => {
        listeners[moment].delete(listener);
        stop();
      };
    },
  };

  return {
    lifecycle,
    setPaused(paused: boolean) {
      if (paused === isPaused) return;
      isPaused = paused;
      // Nothing changes for a hidden page.
      if (!page.isVisible()) return;
      for (const listener of [...listeners[paused ? 'hidden' : 'visible']]) listener();
    },
  };
};
