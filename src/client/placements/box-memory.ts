import type { Boxes } from './box.ts';

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
