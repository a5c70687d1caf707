import type { Banner } from '../banner.ts';
import type { Clock } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Mounted, Placements } from './placements.ts';
import { watchViewability } from './viewability.ts';

interface ImpressionsOptions {
  placements: Placements;
  lifecycle: PageLifecycle;
  clock: Clock;
  Observer: typeof IntersectionObserver;
  mayCount: () => boolean;
  /** A banner has been seen for as long as it takes; called once for each banner in a slot. */
  onSeen: (banner: Banner) => void;
  /** A slot may have another size. */
  onSize: (mounted: Mounted) => void;
}

/** Watches every mounted slot for banners that are seen. Returns how to stop listening to the page. */
export const watchImpressions = (options: ImpressionsOptions): (() => void) => {
  const { placements, lifecycle, clock, Observer, mayCount, onSeen, onSize } = options;
  const restarts = new Map<Mounted, () => void>();
  /** Many slots may leave the view at once: one look at all of them is enough. */
  let cancelLook: (() => void) | undefined;
  const lookSoon = (): void => {
    cancelLook ??= clock.after(0, () => {
      cancelLook = undefined;
      placements.considerAll();
    });
  };

  const watch = (mounted: Mounted): (() => void) => {
    /** The banner whose second is over, so that it is not told again and again. */
    let seen: Banner | null = null;
    const { restart, stop } = watchViewability({
      element: mounted.element,
      isControl: () => mounted.shown?.isControl === true,
      isWaiting: () => mounted.shown !== null && mounted.shown !== seen && mayCount(),
      onSeen() {
        seen = mounted.shown;
        if (seen) onSeen(seen);
      },
      onLeft: lookSoon,
      onSize: () => onSize(mounted),
      isVisible: () => lifecycle.isVisible() && !lifecycle.isPrerendering(),
      clock,
      Observer,
    });
    restarts.set(mounted, restart);
    return () => {
      restarts.delete(mounted);
      stop();
    };
  };
  placements.watchWith(watch, (mounted) => restarts.get(mounted)?.());

  const restartAll = (): void => {
    for (const restart of restarts.values()) restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return () => {
    cancelLook?.();
    for (const stop of stops) stop();
  };
};
