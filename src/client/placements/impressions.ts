import type { Banner, BannerEvent } from '../banner.ts';
import type { Updates } from '../banners/updates.ts';
import type { CapturedEvent, Delivery } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';
import type { MayShow } from './may-show.ts';
import { createBoxMemory, createRooms } from './rooms.ts';
import type { MountedSlot } from './slot.ts';
import { watchViewability } from './viewability.ts';

/** No banner can be read in a slot that is narrower. */
const MIN_WIDTH_PX = 16;

/** Watches the mounted slots: stores an impression for each banner that is seen, once a session, and remembers its height. */
export const createImpressions = (
  context: LateContext,
  updates: Updates,
  capture: Delivery['capture'],
  gate: () => MayShow | undefined,
) => {
  const { settings, user, cache, placements, lifecycle, mayWrite, isActive, inBackground, fail } = context;
  const { platform } = settings;
  const boxMemory = createBoxMemory(context.boxes, mayWrite);
  /** Without one it is not known which slots are in view, so none is watched. */
  const Observer: typeof IntersectionObserver | undefined =
    platform.IntersectionObserver ?? globalThis.IntersectionObserver;
  if (!Observer) fail('config', 'No impression is counted without an IntersectionObserver');
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
    return cache.isIntercepted(event) ? null : capture(event);
  };

  const rememberBox = ({ placementId, element, state }: MountedSlot): void => {
    const { banner, why } = state;
    // The next visit has another banner.
    if (banner?.isTestSend) return;
    if (banner || cache.current(placementId) === null)
      boxMemory.remember(placementId, element, banner !== null && !why);
  };

  const warned = new WeakSet<MountedSlot>();
  /** A slot that shrinks to fit collapses around a template, whose content has no width of its own. */
  const checkWidth = (mounted: MountedSlot): void => {
    const { element, placementId, state } = mounted;
    const { offsetWidth } = element;
    // No width at all is a slot that the page hides or is about to remove; the border of a template is 2 px wide.
    const isDrawn = state.clear && !state.why && offsetWidth > 0;
    if (!isDrawn || offsetWidth >= MIN_WIDTH_PX || warned.has(mounted)) return;
    warned.add(mounted);
    fail('config', `The slot of "${placementId}" is ${offsetWidth} px wide: give it a width, such as 100%`);
  };

  const viewabilityOf = (mounted: MountedSlot, Watcher: typeof IntersectionObserver) =>
    watchViewability({
      element: mounted.element,
      isControl: () => mounted.state.why === 'control',
      isWaiting: () => mounted.state.banner !== null && !mounted.state.isSeen && isActive(),
      onSeen() {
        const { banner } = mounted.state;
        if (banner === null) return;
        mounted.state.isSeen = true;
        const userId = user.id();
        if (userId !== null) inBackground(count(banner, userId));
      },
      onLeft: lookSoon,
      onSize() {
        checkWidth(mounted);
        rememberBox(mounted);
        // A slot that was taken out of the page is back.
        if (mounted.state.banner === null) lookSoon();
      },
      isVisible: () => lifecycle.isVisible() && !lifecycle.isPrerendering(),
      clock: platform,
      Observer: Watcher,
    });

  const watch = (mounted: MountedSlot): (() => void) => {
    mounted.view = Observer && viewabilityOf(mounted, Observer);
    return () => {
      mounted.view?.stop();
      gate()?.forget(mounted);
    };
  };
  placements.attach({
    ...createRooms(lifecycle.isVisible),
    watch,
    mayShow: (slot, banner) => gate()?.ask(slot, banner),
    onChange(mounted) {
      mounted.view?.restart();
      // Once the hook has drawn.
      platform.after(0, () => checkWidth(mounted));
    },
    onExpired: updates.renew,
  });

  /** A new session: what was seen in the former one counts again, after another second. */
  const countAnew = (): void => {
    for (const { state, view } of placements.slots()) {
      if (!state.isSeen) continue;
      state.isSeen = false;
      view?.restart();
    }
  };
  updates.onSession(countAnew);

  const restartAll = (): void => {
    for (const { view } of placements.slots()) view?.restart();
  };
  const stops = (['visible', 'hidden', 'activated'] as const).map((moment) =>
    lifecycle.on(moment, restartAll),
  );
  return {
    /** Stores the impression, unless it was counted in this session before. */
    count,
    countAnew,
    /** How far the slot's banner is from its impression; `null` where nothing is watched. */
    inspect: ({ view, state }: MountedSlot) =>
      view ? { ...view.inspect(), isSeen: state.isSeen === true } : null,
    /** Listens to the page no more. */
    stop(): void {
      cancelLook?.();
      for (const stop of stops) stop();
    },
  };
};

export type Impressions = ReturnType<typeof createImpressions>;
