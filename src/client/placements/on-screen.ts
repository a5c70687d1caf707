/** True while someone may be looking at the element's place; a place without height counts too. */
export const isOnScreen = (element: HTMLElement): boolean => {
  if (document.visibilityState !== 'visible' || !element.isConnected) return false;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
};

/** True where a change of height moves nothing that is on screen: below it, or above where the engine keeps the scroll position. */
export const canResize = (element: HTMLElement): boolean => {
  if (isOnScreen(element)) return false;
  if (document.visibilityState !== 'visible') return true;
  return (
    element.getBoundingClientRect().top > innerHeight ||
    globalThis.CSS?.supports?.('overflow-anchor', 'auto') === true
  );
};
