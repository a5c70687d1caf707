/** Both names of the options: Chrome 105 to 120 knows the older ones. Without the method, an element counts as visible. */
const isVisible = (element: Element): boolean =>
  element.checkVisibility?.({
    checkOpacity: true,
    opacityProperty: true,
    checkVisibilityCSS: true,
    visibilityProperty: true,
  }) !== false;

const isText = (node: Node): boolean => node.nodeType === 3 && node.textContent?.trim() !== '';

/**
 * False where the slot or an ancestor is fully transparent, or where no node in the slot is displayed. A slot that never
 * had a node inside may draw by itself, a background for one, and counts as content.
 */
export const hasVisibleContent = (slot: HTMLElement, wasFilled: boolean): boolean => {
  const root = slot.shadowRoot ?? slot;
  const isShown = isVisible(slot) && (!wasFilled || [...root.childNodes].some(isText));
  return isShown || [...root.querySelectorAll('*')].some(isVisible);
};
