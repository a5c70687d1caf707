import type { Banner } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Notify } from '../notices.ts';
import type { PagePermission } from '../permission.ts';
import type { Issue, PlacementCleanup, PlacementHook, SlotContext } from '../placement-hook.ts';
import type { Clock } from '../platform/clock.ts';
import {
  createBannerValidation,
  createSlot,
  type EmptyReason,
  fillSlot,
  isSameBanner,
  type MountedSlot,
  reportHook,
  type SlotActions,
  type SlotState,
  UNDECIDED,
  UNMOUNTED,
} from './slot.ts';
import type { SlotHeights } from './slot-heights.ts';
import { holdHeight, type SlotSizes } from './slot-sizes.ts';

/** Slot callbacks of the deferred chunk, which attaches them. Cached banners do not need them, unless there is a `shouldShow`. */
export interface SlotWatcher extends SlotHeights {
  /** Watches one slot's visibility until the returned function is called. */
  watch?(slot: MountedSlot): () => void;
  /** Returns whether the host allows the banner there; `undefined` while the result is pending. */
  shouldShow?(slot: MountedSlot, banner: Banner): boolean | undefined;
  /** Called when a slot has another banner. */
  onChange?(slot: MountedSlot): void;
  /** Called when an expired banner was removed. */
  onExpired?(placementId: string): void;
}

/** Maximum number of slots that were detached without an unmount, and may be attached again. */
const MAX_DETACHED = 20;

interface PlacementsOptions extends SlotActions {
  /** Source of each placement's banner, its expiry, and the reason to remove a banner even while in view. */
  cache: Pick<BannerCache, 'current' | 'expiresInMs' | 'removalReason' | 'now'>;
  permission: Pick<PagePermission, 'mayWrite'>;
  /** Heights of earlier visits. */
  slotSizes: Pick<SlotSizes, 'reserve'>;
  /** Placements whose current result came from the network. */
  synced: ReadonlySet<string>;
  /** Whether the host has a `shouldShow`. If so, no new banner is shown until the watcher, which calls it, is attached. */
  hasShouldShow: boolean;
  after: Clock['after'];
  notify: Notify;
}

/** Manages the mounted slots: each slot's banner, and the time of its changes. */
export const createPlacements = (options: PlacementsOptions) => {
  const { cache, permission, slotSizes, synced, hasShouldShow, after, fail, notify } = options;
  const slots = new Set<MountedSlot>();
  let watcher: SlotWatcher | undefined;
  const isOnScreen = ({ element }: MountedSlot): boolean => watcher?.isOnScreen(element) ?? true;

  const report = ({ placementId }: MountedSlot, cause: unknown): void => reportHook(fail, placementId, cause);

  const fill = (
    slot: MountedSlot,
    render: (context: SlotContext) => PlacementCleanup,
    onError = (cause: unknown) => report(slot, cause),
  ): void => {
    const { element, placementId, state } = slot;
    const clear = fillSlot(element, (signal) => render({ element, placementId, signal }), onError);
    // The render may have failed and been replaced, or dismissed its banner, or unmounted itself.
    if (slot.state === state) state.clear = clear;
    else clear?.();
  };

  /**
   * Changes the state of a slot: clears the old content and renders the new one. In the viewport, the slot's height is kept to
   * prevent a layout shift.
   */
  const setState = (
    slot: MountedSlot,
    next: SlotState,
    problems: readonly Issue[] = [],
    keepHeight = true,
  ): void => {
    const { element, placementId, hook, state } = slot;
    if (state === UNMOUNTED) return;
    slot.cancelExpiry?.();
    if (state.clear && keepHeight && isOnScreen(slot)) {
      const height = element.offsetHeight;
      slot.release?.();
      slot.release = holdHeight(element, height);
    }
    slot.state = next;
    state.clear?.();
    watcher?.onChange?.(slot);
    // The cleanup of the previous banner may have unmounted the slot.
    if (slot.state !== next) return;
    const { banner, reason } = next;
    if (banner) scheduleExpiry(slot, banner);
    if (reason) {
      if (problems.length > 0 && hook.renderInvalid)
        fill(slot, (context) => hook.renderInvalid?.(problems, context));
      else if (hook.renderEmpty) fill(slot, (context) => hook.renderEmpty?.(context));
      notify({ type: 'hidden', placementId, reason });
    } else if (banner) {
      slot.expand?.();
      slot.expand = undefined;
      fill(
        slot,
        (context) => hook(banner, createSlot(banner, context, options)),
        (cause) => {
          report(slot, cause);
          if (slot.state !== next) return;
          slot.validation.markInvalid(banner);
          empty(slot, 'invalid');
        },
      );
      const from = synced.has(placementId) ? 'sync' : 'cache';
      if (slot.state === next) notify({ type: 'shown', banner, from });
    }
  };

  /** Clears the banner, once per reason. */
  const empty = (
    slot: MountedSlot,
    reason: EmptyReason,
    problems?: readonly Issue[],
    keepHeight?: boolean,
  ) => {
    if (slot.state.reason !== reason) setState(slot, { banner: null, reason }, problems, keepHeight);
  };

  const scheduleExpiry = (slot: MountedSlot, shown: Banner): void => {
    slot.cancelExpiry?.();
    const wait = cache.expiresInMs(shown);
    if (wait === Infinity) return;
    slot.cancelExpiry = after(Math.max(0, wait) + 1, () => updateSlot(slot));
  };

  /** Updates one slot. A visible change waits until the slot is out of view, unless it `isRequested`. */
  const updateSlot = (slot: MountedSlot, isRequested?: boolean): void => {
    const { element, placementId } = slot;
    if (slot.state === UNMOUNTED) return;
    if (element.isConnected) slot.wasConnected = true;
    else if (slot.wasConnected) {
      clearDetached();
      return;
    }
    const removal = slot.state.banner && cache.removalReason(slot.state.banner);
    if (removal) {
      empty(slot, removal);
      if (removal === 'expired') watcher?.onExpired?.(placementId);
    }
    const next = cache.current(placementId);
    if (next === undefined) {
      // A preview ended before the first sync result.
      if (isRequested) setState(slot, UNDECIDED);
      return;
    }
    const { banner: shown, reason } = slot.state;
    if (isSameBanner(next, shown)) {
      if (next) scheduleExpiry(slot, next);
      else if (!reason) empty(slot, 'none');
    } else {
      const problems = next ? slot.validation.problems(next) : [];
      if (problems === null) return;
      const hasProblems = problems.length > 0;
      const result = next && hasShouldShow && !hasProblems ? watcher?.shouldShow?.(slot, next) : true;
      if (result === undefined) return;
      const renderable = hasProblems || !result ? null : next;
      // Never replace or remove a visible banner, or open a collapsed slot in view.
      const isDrawn = shown && !reason;
      const opens = slot.expand && renderable && !renderable.isControl;
      if ((isDrawn || opens) && !isRequested && isOnScreen(slot)) return;
      if (renderable) {
        const banner = slot.validation.checked(renderable);
        setState(slot, { banner, reason: banner.isControl ? 'control' : null });
      } else empty(slot, hasProblems ? 'invalid' : result ? 'none' : 'blocked', problems);
    }
    if (slot.state !== UNMOUNTED) watcher?.resizeUnseen(slot);
  };

  /**
   * Clears slots that were detached without an unmount. A slot that only moved is already attached again. Vue's KeepAlive or a
   * router that reuses routes may reattach a slot later, which renders it again. The oldest slots are unmounted, to bound their
   * number.
   */
  const clearDetached = (): void => {
    const detached = all().filter(({ wasConnected, element }) => wasConnected && !element.isConnected);
    for (const slot of detached) if (slot.state !== UNDECIDED) setState(slot, UNDECIDED, [], false);
    for (const oldest of detached.slice(0, -MAX_DETACHED)) unmount(oldest);
  };

  const unmount = (slot: MountedSlot): void => {
    if (slot.state === UNMOUNTED) return;
    setState(slot, UNMOUNTED, [], false);
    slots.delete(slot);
    slot.unwatch?.();
    slot.release?.();
    slot.expand?.();
  };

  const all = (): MountedSlot[] => [...slots];

  return {
    mount(placementId: string, element: HTMLElement, hook: PlacementHook): () => void {
      queueMicrotask(clearDetached);
      const validation = createBannerValidation(hook, placementId, fail, () => updateSlot(slot));
      const slot: MountedSlot = { placementId, element, hook, validation, state: UNDECIDED };
      if (permission.mayWrite()) slot.release = slotSizes.reserve(element, placementId);
      slots.add(slot);
      slot.unwatch = watcher?.watch?.(slot);
      updateSlot(slot);
      return () => unmount(slot);
    },

    /**
     * Updates every slot after the cache changed, a banner left the view, or the page was hidden. `isRequested`: whether the
     * viewer requested the change.
     */
    updateAll(isRequested?: boolean): void {
      for (const slot of all()) updateSlot(slot, isRequested);
    },

    slots: all,

    /** Attaches the watcher. Every slot is watched, and empty slots collapse. */
    attach(slotWatcher: SlotWatcher): void {
      watcher = slotWatcher;
      for (const slot of all()) {
        slot.unwatch ??= slotWatcher.watch?.(slot);
        updateSlot(slot);
      }
    },

    /** Removes a banner that the user dismissed or snoozed here, with its height. The layout shift follows user input. */
    hide(banner: Banner): void {
      for (const slot of all()) {
        if (slot.placementId !== banner.placementId || slot.state.banner?.id !== banner.id) continue;
        empty(slot, 'dismissed', [], false);
        // Skips slots that were unmounted in the meantime.
        if (slot.state === UNMOUNTED) continue;
        slot.release?.();
        watcher?.resize(slot);
      }
    },

    unmountAll(): void {
      for (const slot of all()) unmount(slot);
    },
  };
};

export type Placements = ReturnType<typeof createPlacements>;
