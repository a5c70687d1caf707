import type { Banner } from '../banner.ts';
import type { Clock } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Mounted } from './mounted-slot.ts';
import type { Placements } from './placements.ts';
import { createRooms } from './rooms.ts';
import { watchViewability } from './viewability.ts';

interface ImpressionsOptions {
  placements: Placements;
  lifecycle: PageLifecycle;
  clock: Clock;
  /** Without one it is not known which slots are in view, so none is watched. */
  Observer: typeof IntersectionObserver | undefined;
  isActive: () => boolean;
  /** A banner has been seen for as long as it takes; called once for each banner in a slot. */
  onSeen: (banner: Banner) => void;
  /** A slot may have another size. */
  onSize: (mounted: Mounted) => void;
  /** A banner has left the page because it expired. */
  onExpired: (placementId: string) => void;
}

/** Watches every mounted slot for banners that are seen. */
export const watchImpressions = (options: ImpressionsOptions) => {
  const { placements, lifecycle, clock, Observer, isActive, onSeen, onSize, onExpired } = options;
  /** Every mounted slot, and what watches it. */
  const slots = new Map<Mounted, ReturnType<typeof watchViewability> | undefined>();
  /** The banner of each slot whose second is over, so that it is reported once. */
  const seen = new Map<Mounted, Banner>();
  /** Many slots may leave the view in one task. They are updated together, once. */
  let cancelLook: (() => void) | undefined;
  const lookSoon = (): void => {
    cancelLook ??= clock.after(0, () => {
      cancelLook = undefined;
      placements.considerAll();
    });
  };

  const viewabilityOf = (mounted: Mounted, Watcher: typeof IntersectionObserver) =>
    watchViewability({
      element: mounted.element,
      isControl: () => mounted.shown?.isControl === true,
      isWaiting: () => mounted.shown !== null && mounted.shown !== seen.get(mounted) && isActive(),
      onSeen() {
        if (mounted.shown === null) return;
        seen.set(mounted, mounted.shown);
        onSeen(mounted.shown);
      },
      onLeft: lookSoon,
      onSize: () => onSize(mounted),
      isVisible: () => lifecycle.isVisible() && !lifecycle.isPrerendering(),
      clock,
      Observer: Watcher,
    });

  const watch = (mounted: Mounted): (() => void) => {
    slots.set(mounted, Observer ? viewabilityOf(mounted, Observer) : undefined);
    return () => {
      slots.get(mounted)?.stop();
      slots.delete(mounted);
      seen.delete(mounted);
    };
  };
  placements.attach({
    ...createRooms(lifecycle.isVisible),
    watch,
    onChange: (mounted) => slots.get(mounted)?.restart(),
    onExpired,
  });

  const restartAll = (): void => {
    for (const viewability of slots.values()) viewability?.restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return {
    /** A new session: what was seen in the former one counts again, after another second. */
    countAnew(): void {
      const former = [...seen.keys()];
      seen.clear();
      for (const mounted of former) slots.get(mounted)?.restart();
    },
    slots: (): Mounted[] => [...slots.keys()],
    /** How far the slot's banner is from its impression; `null` where nothing is watched. */
    inspect(mounted: Mounted) {
      const view = slots.get(mounted)?.inspect();
      return view ? { ...view, isSeen: mounted.shown !== null && seen.get(mounted) === mounted.shown } : null;
    },
    /** Listens to the page no more. */
    stop(): void {
      cancelLook?.();
      for (const stop of stops) stop();
    },
  };
};
