/** Widths of a slot are told apart in so many steps for each doubling: a scrollbar more or less is the same width. */
const STEPS = 8;
const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

/** Heights of earlier visits in CSS pixels, by placement and class of the slot's width. */
export type Heights = Record<string, number>;

/** Where the heights of earlier visits are: in localStorage, which unlike IndexedDB answers before the first frame. */
export const createBoxes = (appId: string) => {
  const storageKey = `placard-boxes:${appId}`;
  let heights: Heights | undefined;

  const boxes = {
    storageKey,
    /** The key of a placement's box in a slot as wide as this one: what is drawn in a narrow one has another height. */
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

/** Sets styles and returns how to put the former ones back. CSSOM is allowed by a policy without `style-src`. */
const restyle = (element: HTMLElement, styles: Record<string, string>, priority = ''): (() => void) => {
  const { style } = element;
  const before = Object.keys(styles).map(
    (name) => [name, style.getPropertyValue(name), style.getPropertyPriority(name)] as const,
  );
  for (const [name] of before) style.setProperty(name, styles[name]!, priority);
  return () => {
    for (const [name, value, important] of before) style.setProperty(name, value, important);
  };
};

/** Keeps at least this height until the returned function is called. */
export const holdBox = (element: HTMLElement, height: number): (() => void) => {
  const release = restyle(element, { 'min-height': `${height}px` });
  // Padding and border come on top where the page counts by the content box.
  const excess = element.offsetHeight - height;
  if (excess > 0) element.style.setProperty('min-height', `${height - excess}px`);
  return release;
};

/** Takes the room of an empty place away until the returned function is called. */
export const collapseBox = (element: HTMLElement): (() => void) => restyle(element, COLLAPSED, 'important');
