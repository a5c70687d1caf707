import { createPageLifecycle, type PageLifecycle } from '../client/index.ts';

/**
 * The page's lifecycle as the native host sees it: a webview behind another screen often stays `visible` to itself. While
 * the host says paused the page counts as hidden, so that nothing is seen and what waits is sent at once.
 */
export const createHostLifecycle = (page: PageLifecycle = createPageLifecycle()) => {
  const listeners = { visible: new Set<() => void>(), hidden: new Set<() => void>() };
  let isPaused = false;

  const lifecycle: PageLifecycle = {
    ...page,
    isVisible: () => !isPaused && page.isVisible(),
    on(moment, listener) {
      if (moment !== 'visible' && moment !== 'hidden') return page.on(moment, listener);
      // A paused page was told that it is hidden; a second time would be a second last flush.
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
      // A page that is hidden anyway hears nothing new.
      if (!page.isVisible()) return;
      for (const listener of [...listeners[paused ? 'hidden' : 'visible']]) listener();
    },
  };
};
