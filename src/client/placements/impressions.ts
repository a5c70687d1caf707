import type { Banner } from '../banner.ts';
import type { Clock } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Mounted, Placements } from './placements.ts';
import { ROOMS } from './rooms.ts';
import { watchViewability } from './viewability.ts';

interface ImpressionsOptions {
  placements: Placements;
  lifecycle: PageLifecycle;
  clock: Clock;
  /** Without one it is not known which slots are in view, so none is watched. */
  Observer: typeof IntersectionObserver | undefined;
  mayCount: () => boolean;
  /** A banner has been seen for as long as it takes; called once for each banner in a slot. */
  onSeen: (banner: Banner) => void;
  /** A slot may have another size. */
  onSize: (mounted: Mounted) => void;
}

/** Watches every mounted slot for banners that are seen. */
export const watchImpressions = (options: ImpressionsOptions) => {
  const { placements, lifecycle, clock, Observer, mayCount, onSeen, onSize } = options;
  const restarts = new Map<Mounted, () => void>();
  /** The banner of each slot whose second is over, so that it is reported once. */
  const seen = new Map<Mounted, Banner>();
  /** Many slots may leave the view at once: one look at all of them is enough. */
  let cancelLook: (() => void) | undefined;
  const lookSoon = (): void => {
    cancelLook ??= clock.after(0, () => {
      cancelLook = undefined;
      placements.considerAll();
    });
  };

  const watch = (mounted: Mounted): (() => void) => {
    const { restart, stop } = watchViewability({
      element: mounted.element,
      isControl: () => mounted.shown?.isControl === true,
      isWaiting: () => mounted.shown !== null && mounted.shown !== seen.get(mounted) && mayCount(),
      onSeen() {
        if (mounted.shown === null) return;
        seen.set(mounted, mounted.shown);
        onSeen(mounted.shown);
      },
      onLeft: lookSoon,
      onSize: () => onSize(mounted),
      isVisible: () => lifecycle.isVisible() && !lifecycle.isPrerendering(),
      clock,
      Observer: Observer!,
    });
    restarts.set(mounted, restart);
    return () => {
      restarts.delete(mounted);
      seen.delete(mounted);
      stop();
    };
  };
  const watching = Observer && { watch, onChange: (mounted: Mounted) => restarts.get(mounted)?.() };
  placements.attach({ ...ROOMS, ...watching });

  const restartAll = (): void => {
    for (const restart of restarts.values()) restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return {
    /** A new session: what was seen in the former one counts again, after another second. */
    countAnew(): void {
      const former = [...seen.keys()];
      seen.clear();
      for (const mounted of former) restarts.get(mounted)?.();
    },
    /** Listens to the page no more. */
    stop(): void {
      cancelLook?.();
      for (const stop of stops) stop();
    },
  };
};
