import { removeLocal } from '../platform/remove-local.ts';

/** Number of width classes per doubling of the width; few enough that a scrollbar does not change the class. */
const STEPS = 8;

/** Heights of earlier visits in CSS pixels, by placement and width class of the slot. */
export type Heights = Record<string, number>;

/** Reads the heights of earlier visits from localStorage, which unlike IndexedDB is available before the first frame. */
export const createSlotSizes = (appId: string) => {
  const storageKey = `placard-heights:${appId}`;
  let heights: Heights | undefined;

  const sizes = {
    storageKey,
    /**
     * Returns the key of a placement at the slot's width. The width is included because a banner has another height in a narrow
     * slot.
     */
    key: (placementId: string, { offsetWidth }: HTMLElement): string =>
      `${placementId}@${Math.round(STEPS * Math.log2(offsetWidth + 1))}`,

    heights(): Heights {
      try {
        heights ??= { ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Heights) };
      } catch {
        // Storage is blocked or the value is damaged, so there are no heights, as on a first visit.
        heights = {};
      }
      return heights;
    },

    clear(): void {
      heights = {};
      removeLocal(storageKey);
    },

    /**
     * Reserves the placement's height of the last visit, to prevent a layout shift. If the page declares a sufficient height,
     * nothing changes.
     */
    reserve(element: HTMLElement, placementId: string): (() => void) | undefined {
      const height = Number(sizes.heights()[sizes.key(placementId, element)]);
      return height > element.offsetHeight ? holdHeight(element, height) : undefined;
    },
  };
  return sizes;
};

export type SlotSizes = ReturnType<typeof createSlotSizes>;

/** Sets a minimum height until the returned function is called. CSSOM is allowed by a CSP without `style-src`. */
export const holdHeight = (element: HTMLElement, height: number): (() => void) => {
  const { style } = element;
  const [before, priority] = [style.minHeight, style.getPropertyPriority('min-height')];
  style.minHeight = `${height}px`;
  // With `box-sizing: content-box`, padding and border are added to the minimum height.
  const excess = element.offsetHeight - height;
  if (excess > 0) style.minHeight = `${height - excess}px`;
  return () => style.setProperty('min-height', before, priority);
};
