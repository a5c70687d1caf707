import type { SlotWatcher } from './slot-watcher.ts';

const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** What becomes of the room that an empty slot has. */
export const ROOMS: Pick<SlotWatcher, 'canResize' | 'collapse'> = {
  // Below the screen, or above it where the engine keeps the scroll position.
  canResize: (element, isPageVisible) =>
    !isPageVisible() ||
    element.getBoundingClientRect().top > innerHeight ||
    globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true,

  collapse({ style }) {
    const before = Object.keys(COLLAPSED).map(
      (name) => [name, style.getPropertyValue(name), style.getPropertyPriority(name)] as const,
    );
    // CSSOM is allowed by a policy without `style-src`.
    for (const [name] of before) style.setProperty(name, COLLAPSED[name]!, 'important');
    return () => {
      for (const [name, value, priority] of before) style.setProperty(name, value, priority);
    };
  },
};
