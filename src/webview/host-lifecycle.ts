import type { PageLifecycle } from '../client/index.ts';
import { createPageLifecycle } from '../client/platform/index.ts';

/**
 * The page's lifecycle as the native host sees it: a webview behind another screen often stays `visible` to itself. While
 * the host says paused the page counts as hidden, so that nothing is seen and waiting events are sent at once.
 */
export const createHostLifecycle = (page: PageLifecycle = createPageLifecycle()) => {
  const listeners = { visible: new Set<() => void>(), hidden: new Set<() => void>() };
  let isPaused = false;

  const lifecycle: PageLifecycle = {
    ...page,
    isVisible: () => !isPaused && page.isVisible(),
    on(moment, listener) {
      if (moment !== 'visible' && moment !== 'hidden') return page.on(moment, listener);
      // A paused page counts as hidden already; a second time would be a second last flush.
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
      // For a page that is hidden anyway nothing changes.
      if (!page.isVisible()) return;
      for (const listener of [...listeners[paused ? 'hidden' : 'visible']]) listener();
    },
  };
};
