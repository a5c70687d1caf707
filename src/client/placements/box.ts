import { forgetLocal } from '../platform/forget-local.ts';

/** Steps by which widths of a slot differ, for each doubling: a scrollbar more or less is the same width. */
const STEPS = 8;

/** Heights of earlier visits in CSS pixels, by placement and class of the slot's width. */
export type Heights = Record<string, number>;

/** Where the heights of earlier visits are: in localStorage, which unlike IndexedDB answers before the first frame. */
export const createBoxes = (appId: string) => {
  const storageKey = `placard-boxes:${appId}`;
  let heights: Heights | undefined;

  const boxes = {
    storageKey,
    /** The key of a placement's box in a slot as wide as this one: a banner has another height in a narrow slot. */
    key: (placementId: string, { offsetWidth }: HTMLElement): string =>
      `${placementId}@${Math.round(STEPS * Math.log2(offsetWidth + 1))}`,

    heights(): Heights {
      try {
        heights ??= { ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Heights) };
      } catch {
        // Blocked storage or a damaged value: the slot starts without a remembered box, as on a first visit.
        heights = {};
      }
      return heights;
    },

    forget(): void {
      heights = {};
      forgetLocal(storageKey);
    },

    /**
     * Keeps the height that the placement had on the last visit, so that nothing moves when its banner comes. A box
     * that the page declares and that is large enough is left alone.
     */
    reserve(element: HTMLElement, placementId: string): (() => void) | undefined {
      const height = Number(boxes.heights()[boxes.key(placementId, element)]);
      return height > element.offsetHeight ? holdBox(element, height) : undefined;
    },
  };
  return boxes;
};

export type Boxes = ReturnType<typeof createBoxes>;

/** Keeps at least this height until the returned function is called. CSSOM is allowed by a policy without `style-src`. */
export const holdBox = (element: HTMLElement, height: number): (() => void) => {
  const { style } = element;
  const [before, priority] = [style.minHeight, style.getPropertyPriority('min-height')];
  style.minHeight = `${height}px`;
  // Padding and border come on top where the page counts by the content box.
  const excess = element.offsetHeight - height;
  if (excess > 0) style.minHeight = `${height - excess}px`;
  return () => style.setProperty('min-height', before, priority);
};
