import { isOnScreen } from './on-screen.ts';

const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** What becomes of the room that an empty slot has. No cached banner waits for it, so it is not loaded before the first paint. */
export interface Rooms {
  /** True where a change of the slot's height moves nothing that is on screen. */
  canResize(element: HTMLElement, isPageVisible: boolean): boolean;
  /** Takes the room of an empty slot away until the returned function is called. */
  collapse(element: HTMLElement): () => void;
}

export const ROOMS: Rooms = {
  canResize(element, isPageVisible) {
    if (isOnScreen(element, isPageVisible)) return false;
    return (
      !isPageVisible ||
      // Below the screen, or above it where the engine keeps the scroll position.
      element.getBoundingClientRect().top > innerHeight ||
      globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true
    );
  },

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
