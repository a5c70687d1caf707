import type { Boxes } from './box.ts';
import type { MountedSlot } from './slot.ts';

/** Remembers what the slots of an app needed, for the next visit. */
export const createBoxMemory = ({ heights, key, storageKey }: Boxes, mayWrite: () => boolean) => ({
  /** Remembers the slot's present height, or that its placement had nothing to show. */
  remember(placementId: string, element: HTMLElement, isDrawn = true): void {
    const height = isDrawn ? element.offsetHeight : 0;
    const box = key(placementId, element);
    if (!mayWrite() || (heights()[box] ?? 0) === height) return;
    heights()[box] = height;
    try {
      localStorage.setItem(storageKey, JSON.stringify(heights()));
    } catch {
      // Full or blocked storage costs the next visit its remembered box, nothing else.
    }
  },
});

const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** Takes the room of an empty slot away until the returned function is called. */
const collapse = ({ style }: HTMLElement): (() => void) => {
  const before = Object.keys(COLLAPSED).map(
    (name) => [name, style.getPropertyValue(name), style.getPropertyPriority(name)] as const,
  );
  // CSSOM is allowed by a policy without `style-src`.
  for (const [name] of before) style.setProperty(name, COLLAPSED[name]!, 'important');
  return () => {
    for (const [name, value, priority] of before) style.setProperty(name, value, priority);
  };
};

/** The room that slots take on a page. `isVisible` says whether the page is visible. */
export const createRooms = (isVisible: () => boolean) => {
  /** True where someone may be looking at the element. */
  const isOnScreen = (element: HTMLElement): boolean => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    // A slot without height counts too.
    const isInView = bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
    return isVisible() && element.isConnected && isInView;
  };

  /** True where a change of the height moves nothing that is on screen: below it, or above it where the engine keeps the scroll position. */
  const canResize = (element: HTMLElement): boolean =>
    !isOnScreen(element) &&
    (!isVisible() ||
      element.getBoundingClientRect().top > innerHeight ||
      globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true);

  /** Gives room back, or takes an empty slot's room away. */
  const resize = (slot: MountedSlot): void => {
    slot.release?.();
    slot.release = undefined;
    if (!slot.state.clear) slot.expand ??= collapse(slot.element);
  };

  return {
    isOnScreen,
    resize,
    /** Resizes the slot where that moves nothing on screen. */
    resizeUnseen(slot: MountedSlot): void {
      const isSettled = slot.state.clear ? !slot.release : slot.expand;
      if (!isSettled && canResize(slot.element)) resize(slot);
    },
  };
};

export type Rooms = ReturnType<typeof createRooms>;
