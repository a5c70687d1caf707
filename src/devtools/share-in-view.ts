/** As fine as a meter needs it. */
const STEPS = 20;
const THRESHOLD = Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS);

/** How much of each element is in view, its scrollers' clips included: the client itself looks at its thresholds only. */
export const createShareInView = () => {
  const shares = new WeakMap<Element, number>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio } of entries)
        shares.set(target, isIntersecting ? intersectionRatio : 0);
    },
    { threshold: THRESHOLD },
  );
  return {
    /** 0 to 1; 0 until the browser has measured. */
    of(element: Element): number {
      if (!shares.has(element)) {
        shares.set(element, 0);
        observer.observe(element);
      }
      // Of an element without a size the observer says that all of it is in view.
      const { width, height } = element.getBoundingClientRect();
      return width * height === 0 ? 0 : shares.get(element)!;
    },
    stop: () => observer.disconnect(),
  };
};

export type ShareInView = ReturnType<typeof createShareInView>;
