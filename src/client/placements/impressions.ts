import type { Banner, BannerEvent } from '../banner.ts';
import type { SyncScheduler } from '../banners/sync-scheduler.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { CapturedEvent, Delivery } from '../delivery/delivery.ts';
import type { ShouldShow } from './should-show.ts';
import type { MountedSlot } from './slot.ts';
import { createSlotHeights, storeHeight } from './slot-heights.ts';
import { watchViewability } from './viewability.ts';

/** Minimum width of a slot in which a banner is readable. */
const MIN_WIDTH_PX = 16;

/** Watches the mounted slots. Stores one impression per viewed banner and session, and the banner's height. */
export const createImpressions = (
  context: DeferredContext,
  scheduler: SyncScheduler,
  capture: Delivery['capture'],
  getShouldShow: () => ShouldShow | undefined,
) => {
  const { settings, permission, cache, placements, lifecycle, slotSizes, inBackground, fail } = context;
  const { platform } = settings;
  /** Returns whether the element's window is visible. A window that the page opened may be visible while the page is hidden. */
  const isVisible = ({ ownerDocument }: Element): boolean =>
    ownerDocument === globalThis.document
      ? lifecycle.isVisible()
      : ownerDocument.visibilityState === 'visible';
  /** Without `IntersectionObserver`, visibility is unknown and no slot is watched. */
  const Observer: typeof IntersectionObserver | undefined =
    platform.IntersectionObserver ?? globalThis.IntersectionObserver;
  if (!Observer) fail('config', 'No IntersectionObserver: impressions are not counted');
  /** Many slots may leave the view in one task, so they are updated together, once. */
  let cancelUpdate: (() => void) | undefined;
  const scheduleUpdate = (): void => {
    cancelUpdate ??= platform.after(0, () => {
      cancelUpdate = undefined;
      placements.updateAll();
    });
  };

  const count = async (
    banner: Banner,
    userId: string,
    at: number = platform.now(),
  ): Promise<BannerEvent | null> => {
    const { id: bannerId, placementId } = banner;
    if (!permission.isActive() || cache.isExpired(banner)) return null;
    // The transaction that stores the impression also counts it. After an earlier crash the next view counts; after a later crash
    // it does not.
    const dedupName = await scheduler.dedupName(placementId, bannerId);
    if (dedupName === undefined || permission.userId() !== userId) return null;
    const event: CapturedEvent = { type: 'impression', bannerId, placementId, userId, at, dedupName };
    return cache.passToInterceptor(event) ? null : capture(event);
  };

  const storeSlotHeight = ({ placementId, element, state }: MountedSlot): void => {
    const { banner, reason } = state;
    // The next visit has another banner.
    if (banner?.isTestSend || !permission.canWrite()) return;
    if (banner || cache.current(placementId) === null)
      storeHeight(slotSizes, placementId, element, banner !== null && !reason);
  };

  const warned = new WeakSet<MountedSlot>();
  /** Reports a shrink-to-fit slot. Such a slot collapses, because a template has no intrinsic width. */
  const checkWidth = (mounted: MountedSlot): void => {
    const { element, placementId, state } = mounted;
    const { offsetWidth } = element;
    // A slot without width is hidden or about to be removed. The border of a template is 2 px wide.
    const isDrawn = state.clear && !state.reason && offsetWidth > 0;
    if (!isDrawn || offsetWidth >= MIN_WIDTH_PX || warned.has(mounted)) return;
    warned.add(mounted);
    fail('config', `The slot of "${placementId}" is ${offsetWidth} px wide: give it a width`);
  };

  const watchSlot = (mounted: MountedSlot, Watcher: typeof IntersectionObserver) =>
    watchViewability({
      element: mounted.element,
      isControl: () => mounted.state.reason === 'control',
      isWaiting: () => mounted.state.banner !== null && !mounted.state.isSeen && permission.isActive(),
      onSeen() {
        const { banner } = mounted.state;
        if (banner === null) return;
        mounted.state.isSeen = true;
        const userId = permission.userId();
        if (userId !== null) inBackground(count(banner, userId));
      },
      onLeft: scheduleUpdate,
      onSize() {
        checkWidth(mounted);
        storeSlotHeight(mounted);
        // A detached slot is back in the page.
        if (mounted.state.banner === null) scheduleUpdate();
      },
      isVisible: () => isVisible(mounted.element) && !lifecycle.isPrerendering(),
      clock: platform,
      Observer: Watcher,
    });

  const watch = (mounted: MountedSlot): (() => void) => {
    mounted.view = Observer && watchSlot(mounted, Observer);
    return () => {
      mounted.view?.stop();
      getShouldShow()?.clear(mounted);
    };
  };
  placements.attach({
    ...createSlotHeights(isVisible),
    watch,
    shouldShow: (slot, banner) => getShouldShow()?.evaluate(slot, banner),
    onChange(mounted) {
      mounted.view?.restart();
      // Runs after the hook has rendered.
      platform.after(0, () => checkWidth(mounted));
    },
    onExpired: scheduler.refetchExpired,
  });

  /** Counts impressions again in a new session, after another second in view. */
  const reset = (): void => {
    for (const { state, view } of placements.slots()) {
      if (!state.isSeen) continue;
      state.isSeen = false;
      view?.restart();
    }
  };
  scheduler.onSession(reset);

  const restartAll = (): void => {
    for (const { view } of placements.slots()) view?.restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return {
    /** Stores the impression, unless it was already counted in this session. */
    count,
    reset,
    /** Returns the viewability state of the slot's banner; `null` if the slot is not watched. */
    inspect: ({ view, state }: MountedSlot) =>
      view ? { ...view.inspect(), isSeen: state.isSeen === true } : null,
    /** Stops listening to the page. */
    stop(): void {
      cancelUpdate?.();
      for (const stop of stops) stop();
    },
  };
};

export type Impressions = ReturnType<typeof createImpressions>;
