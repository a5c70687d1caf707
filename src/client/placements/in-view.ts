/** True while the element's slot is in the view of its window; a slot without height counts too. */
export const isInView = (element: HTMLElement): boolean => {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return element.isConnected && bottom >= 0 && right >= 0 && top <= innerHeight && left <= innerWidth;
};
