/** True while someone may be looking at the element's slot, on a page that is visible; a slot without height counts too. */
export const isOnScreen = (element: HTMLElement, isPageVisible: boolean): boolean => {
  if (!isPageVisible || !element.isConnected) return false;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
};
