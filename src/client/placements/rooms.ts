import type { SlotWatcher } from './mounted-slot.ts';

const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** The room that slots take on a page; `isVisible` returns whether that is visible, to the host too. */
export const createRooms = (isVisible: () => boolean) => {
  const isOnScreen = (element: HTMLElement): boolean => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    // A slot without height counts too.
    const isInView = bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
    return isVisible() && element.isConnected && isInView;
  };

  return {
    isOnScreen,
    // Below the screen, or above it where the engine keeps the scroll position.
    canResize: (element) =>
      !isOnScreen(element) &&
      (!isVisible() ||
        element.getBoundingClientRect().top > innerHeight ||
        globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true),

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
  } satisfies SlotWatcher;
};
