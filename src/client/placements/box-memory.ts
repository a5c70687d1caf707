import type { Boxes } from './box.ts';

/** Remembers what the slots of an app needed, for the next visit. */
export const createBoxMemory = ({ heights, key, storageKey }: Boxes, mayStore: () => boolean) => ({
  /** `height` in CSS pixels, 0 for a place that had nothing to show. */
  remember(placementId: string, height: number): void {
    const rounded = Math.round(height);
    if (!mayStore() || (heights()[key(placementId)] ?? 0) === rounded) return;
    heights()[key(placementId)] = rounded;
    try {
      localStorage.setItem(storageKey, JSON.stringify(heights()));
    } catch {
      // Full or blocked storage costs the next visit its remembered box, nothing else.
    }
  },

  forget(): void {
    for (const each of Object.keys(heights())) delete heights()[each];
    try {
      localStorage.removeItem(storageKey);
    } catch {
      // Blocked storage holds nothing of ours.
    }
  },
});
