import type { Banner, BannerEvent } from '../banner.ts';
import type { Updates } from '../banners/updates.ts';
import type { CapturedEvent, Delivery } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';
import type { Mounted } from './mounted-slot.ts';
import { createRooms } from './rooms.ts';
import { watchViewability } from './viewability.ts';

/** Watches the mounted slots: stores an impression for each banner that is seen, once a session, and remembers its height. */
export const createImpressions = (context: LateContext, updates: Updates, capture: Delivery['capture']) => {
  const { settings, user, cache, placements, lifecycle, boxMemory, isActive, inBackground, fail } = context;
  const { platform } = settings;
  /** Without one it is not known which slots are in view, so none is watched. */
  const Observer: typeof IntersectionObserver | undefined =
    platform.IntersectionObserver ?? globalThis.IntersectionObserver;
  if (!Observer) fail('config', 'No impression is counted without an IntersectionObserver');
  /** Every mounted slot, and what watches it. */
  const slots = new Map<Mounted, ReturnType<typeof watchViewability> | undefined>();
  /** The banner of each slot whose second is over, so that it is reported once. */
  const seen = new Map<Mounted, Banner>();
  /** Many slots may leave the view in one task. They are updated together, once. */
  let cancelLook: (() => void) | undefined;
  const lookSoon = (): void => {
    cancelLook ??= platform.after(0, () => {
      cancelLook = undefined;
      placements.considerAll();
    });
  };

  const count = async (
    banner: Banner,
    userId: string,
    at: number = platform.now(),
  ): Promise<BannerEvent | null> => {
    const { id: bannerId, placementId } = banner;
    if (!isActive() || cache.isExpired(banner)) return null;
    // Counted by the transaction that stores it: a crash before it leaves the next view to count, and one after it does not.
    const once = await updates.nameOf(placementId, bannerId);
    if (once === undefined || user.id() !== userId) return null;
    const event: CapturedEvent = { type: 'impression', bannerId, placementId, userId, at, once };
    return cache.isTaken(event) ? null : capture(event);
  };

  const rememberBox = ({ placementId, element, shown }: Mounted): void => {
    // The banner is another one on the next visit.
    if (shown?.isTestSend) return;
    const isDrawn = shown?.isControl === false;
    if (shown || cache.current(placementId) === null) boxMemory.remember(placementId, element, isDrawn);
  };

  const viewabilityOf = (mounted: Mounted, Watcher: typeof IntersectionObserver) =>
    watchViewability({
      element: mounted.element,
      isControl: () => mounted.shown?.isControl === true,
      isWaiting: () => mounted.shown !== null && mounted.shown !== seen.get(mounted) && isActive(),
      onSeen() {
        const { shown } = mounted;
        if (shown === null) return;
        seen.set(mounted, shown);
        const userId = user.id();
        if (userId !== null) inBackground(count(shown, userId));
      },
      onLeft: lookSoon,
      onSize() {
        rememberBox(mounted);
        // A slot that was taken out of the page is back.
        if (mounted.shown === null) lookSoon();
      },
      isVisible: () => lifecycle.isVisible() && !lifecycle.isPrerendering(),
      clock: platform,
      Observer: Watcher,
    });

  const watch = (mounted: Mounted): (() => void) => {
    slots.set(mounted, Observer && viewabilityOf(mounted, Observer));
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
    onExpired: updates.renew,
  });

  /** A new session: what was seen in the former one counts again, after another second. */
  const countAnew = (): void => {
    const former = [...seen.keys()];
    seen.clear();
    for (const mounted of former) slots.get(mounted)?.restart();
  };
  updates.onSession(countAnew);

  const restartAll = (): void => {
    for (const viewability of slots.values()) viewability?.restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return {
    /** Stores the impression, unless it was counted in this session before. */
    count,
    countAnew,
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

export type Impressions = ReturnType<typeof createImpressions>;
