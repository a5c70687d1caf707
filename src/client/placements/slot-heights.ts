import type { MountedSlot } from './slot.ts';
import type { SlotSizes } from './slot-sizes.ts';

/** Stores the slot's current height for the next visit, or 0 if its placement has no banner. */
export const storeHeight = (
  { heights, key, storageKey }: SlotSizes,
  placementId: string,
  element: HTMLElement,
  isDrawn = true,
): void => {
  const height = isDrawn ? element.offsetHeight : 0;
  const name = key(placementId, element);
  if ((heights()[name] ?? 0) === height) return;
  heights()[name] = height;
  try {
    localStorage.setItem(storageKey, JSON.stringify(heights()));
  } catch {
    // Full or blocked storage only loses the stored height.
  }
};

const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** Collapses an empty slot until the returned function is called. */
const collapse = ({ style }: HTMLElement): (() => void) => {
  const before = Object.keys(COLLAPSED).map(
    (name) => [name, style.getPropertyValue(name), style.getPropertyPriority(name)] as const,
  );
  // Uses CSSOM, because a strict CSP blocks `style` attributes.
  for (const [name] of before) style.setProperty(name, COLLAPSED[name]!, 'important');
  return () => {
    for (const [name, value, priority] of before) style.setProperty(name, value, priority);
  };
};

const getWindow = ({ ownerDocument }: Element): Window => ownerDocument.defaultView ?? window;

/** Manages the heights of slots. `isVisible` returns whether the element's window is visible. */
export const createSlotHeights = (isVisible: (element: Element) => boolean) => {
  /** Returns whether the element is in the viewport of a visible page. */
  const isOnScreen = (element: HTMLElement): boolean => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    // Includes a slot without height.
    const { innerHeight, innerWidth } = getWindow(element);
    const isInView = bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
    return isVisible(element) && element.isConnected && isInView;
  };

  /**
   * Returns whether a change of the height causes no layout shift: below the viewport, or above it if the engine has scroll
   * anchoring.
   */
  const canResize = (element: HTMLElement): boolean =>
    !isOnScreen(element) &&
    (!isVisible(element) ||
      element.getBoundingClientRect().top > getWindow(element).innerHeight ||
      globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true);

  /** Releases the reserved height, or collapses an empty slot. */
  const resize = (slot: MountedSlot): void => {
    slot.release?.();
    slot.release = undefined;
    if (!slot.state.clear) slot.expand ??= collapse(slot.element);
  };

  return {
    isOnScreen,
    resize,
    /** Resizes the slot if that causes no visible layout shift. */
    resizeUnseen(slot: MountedSlot): void {
      const isSettled = slot.state.clear ? !slot.release : slot.expand;
      if (!isSettled && canResize(slot.element)) resize(slot);
    },
  };
};

export type SlotHeights = ReturnType<typeof createSlotHeights>;
