/** Viewport widths at which a layout usually changes, in CSS pixels. */
const BREAKPOINTS = [480, 768, 1_024, 1_440];
const COLLAPSED: Record<string, string> = {
  'min-height': '0',
  height: '0',
  'aspect-ratio': 'auto',
  margin: '0',
  padding: '0',
  'border-width': '0',
  overflow: 'hidden',
};

type Heights = Record<string, number>;

/**
 * The room a slot takes, so that nothing on the page moves when a banner comes late, leaves, or does not come.
 * Heights of earlier visits are kept in localStorage: unlike IndexedDB it answers before the first frame. Styles go
 * through CSSOM, which a Content-Security-Policy without `style-src` allows.
 */
export const createBoxes = (appId: string, mayStore: () => boolean) => {
  const storageKey = `placard-boxes:${appId}`;
  let heights: Heights | undefined;

  const remembered = (): Heights => {
    if (heights) return heights;
    heights = {};
    try {
      const stored: unknown = mayStore() ? JSON.parse(localStorage.getItem(storageKey) ?? '{}') : {};
      if (stored && typeof stored === 'object') heights = { ...(stored as Heights) };
    } catch {
      // Blocked storage or a damaged value: the slot starts without a remembered box, as on a first visit.
    }
    return heights;
  };

  const boxKey = (placementId: string) =>
    `${placementId}@${BREAKPOINTS.filter((width) => innerWidth >= width).length}`;

  /** Sets styles and returns how to put the former ones back. */
  const style = (element: HTMLElement, styles: Record<string, string>, priority = ''): (() => void) => {
    const before = Object.keys(styles).map(
      (name) =>
        [name, element.style.getPropertyValue(name), element.style.getPropertyPriority(name)] as const,
    );
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, priority);
    return () => {
      for (const [name, value, important] of before) element.style.setProperty(name, value, important);
    };
  };

  return {
    /** Keeps at least this height, or the height of the last visit, until the returned function is called. */
    reserve(element: HTMLElement, placementId: string, height?: number): (() => void) | undefined {
      const wanted = height ?? remembered()[boxKey(placementId)];
      // A box that the page declares and that is large enough is left alone.
      if (!(Number(wanted) > 0) || (element.offsetHeight >= Number(wanted) && height === undefined))
        return undefined;
      return style(element, { 'min-height': `${wanted}px`, 'box-sizing': 'border-box' });
    },

    /** Takes the room of an empty slot away until the returned function is called. */
    collapse: (element: HTMLElement): (() => void) => style(element, COLLAPSED, 'important'),

    /** Remembers what a slot needed, for the next visit; 0 for nothing. */
    remember(placementId: string, height: number): void {
      const key = boxKey(placementId);
      const rounded = Math.round(height);
      if (!mayStore() || (remembered()[key] ?? 0) === rounded) return;
      remembered()[key] = rounded;
      try {
        localStorage.setItem(storageKey, JSON.stringify(heights));
      } catch {
        // Full or blocked storage costs the next visit its remembered box, nothing else.
      }
    },

    forget(): void {
      heights = undefined;
      try {
        localStorage.removeItem(storageKey);
      } catch {
        // Blocked storage holds nothing of ours.
      }
    },
  };
};

export type Boxes = ReturnType<typeof createBoxes>;
