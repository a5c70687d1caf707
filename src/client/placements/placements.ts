import type { Banner } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Consent } from '../consent/consent.ts';
import type { Notify } from '../notices.ts';
import type { Drawn, EmptySlot, PlacementHook, Problem } from '../placement-hook.ts';
import type { Clock } from '../platform/clock.ts';
import { createBannerCheck, isSameBanner, problemText } from './banner-check.ts';
import { type Boxes, holdBox } from './box.ts';
import { createSlot, fillSlot, type SlotVerbs } from './fill-slot.ts';
import type { EmptyReason, Mounted, MountedSlot, SlotWatcher } from './mounted-slot.ts';

/** Slots that were taken out of the page without an unmount, and may come back. */
const MAX_ASIDE = 20;

interface PlacementsOptions extends SlotVerbs {
  /** What each placement should show, for how long, and why a banner may not even stay until it is out of view. */
  cache: Pick<BannerCache, 'current' | 'expiresInMs' | 'mustLeave' | 'now'>;
  consent: Pick<Consent, 'mayWrite'>;
  /** Where the rooms of the last visit are. */
  boxes: Pick<Boxes, 'reserve'>;
  /** Placements whose present answer came from the network. */
  answered: ReadonlySet<string>;
  /** Whether the host has a `mayShow`, which the watcher asks: until that is there, nothing new is shown. */
  isGated: boolean;
  after: Clock['after'];
  notify: Notify;
}

/** The mounted slots: the banner of each, and when it may change. */
export const createPlacements = (options: PlacementsOptions) => {
  const { cache, consent, boxes, answered, isGated, after, fail, notify } = options;
  const slots = new Set<MountedSlot>();
  let watcher: SlotWatcher | undefined;
  const isOnScreen = ({ element }: Mounted): boolean => watcher?.isOnScreen(element) ?? true;

  const report = ({ placementId }: Mounted, cause: unknown): void =>
    fail('hook', `The hook of "${placementId}" threw`, cause);

  const fill = (
    slot: MountedSlot,
    draw: (where: EmptySlot) => Drawn,
    onError = (cause: unknown) => report(slot, cause),
  ): void => {
    const { element, placementId, shown } = slot;
    const clear = fillSlot(element, (signal) => draw({ element, placementId, signal }), onError);
    // The draw may have failed, and something else been drawn since; or it sent its own banner away, or unmounted itself.
    if (slot.shown === shown && slots.has(slot)) slot.clear = clear ?? slot.clear;
    else clear?.();
  };

  /** Takes the banner out. On screen its room stays, so that nothing below moves. */
  const leave = (slot: MountedSlot, keepRoom: boolean): void => {
    const { element, clear } = slot;
    slot.cancelExpiry?.();
    if (clear && keepRoom && isOnScreen(slot)) {
      const height = element.offsetHeight;
      slot.release?.();
      slot.release = holdBox(element, height);
    }
    slot.shown = null;
    slot.clear = undefined;
    clear?.();
    watcher?.onChange?.(slot);
  };

  /** Shows what the hook has for an empty slot, once for each reason. */
  const empty = (slot: MountedSlot, reason: EmptyReason, problems: readonly Problem[] = []): void => {
    if (slot.emptied === reason || !slots.has(slot)) return;
    slot.emptied = reason;
    const { hook, placementId } = slot;
    slot.clear?.();
    slot.clear = undefined;
    if (problems.length > 0 && hook.invalid) fill(slot, (where) => hook.invalid?.(problems, where));
    else if (hook.empty) fill(slot, (where) => hook.empty?.(where));
    notify({ type: 'emptied', placementId, reason });
  };

  const show = (slot: MountedSlot, banner: Banner): void => {
    // The former banner's cleanup may have unmounted the slot.
    if (!slots.has(slot)) return;
    slot.shown = banner;
    slot.emptied = null;
    armExpiry(slot, banner);
    watcher?.onChange?.(slot);
    if (banner.isControl) {
      empty(slot, 'control');
      return;
    }
    slot.expand?.();
    slot.expand = undefined;
    fill(
      slot,
      (where) => slot.hook(banner, createSlot(banner, where, options)),
      (cause) => {
        report(slot, cause);
        if (slot.shown !== banner) return;
        slot.check.markInvalid(banner);
        leave(slot, true);
        empty(slot, 'invalid');
      },
    );
    if (slot.shown === banner)
      notify({ type: 'shown', banner, from: answered.has(slot.placementId) ? 'sync' : 'cache' });
  };

  const armExpiry = (slot: MountedSlot, shown: Banner): void => {
    slot.cancelExpiry?.();
    const wait = cache.expiresInMs(shown);
    if (wait === Number.POSITIVE_INFINITY) return;
    slot.cancelExpiry = after(Math.max(0, wait) + 1, () => consider(slot));
  };

  /** Brings one slot to what it should show, but for changes on screen; `isRequested` brings those as well. */
  const consider = (slot: MountedSlot, isRequested?: boolean): void => {
    const { element, placementId } = slot;
    if (!slots.has(slot)) return;
    if (element.isConnected) slot.wasConnected = true;
    else if (slot.wasConnected) {
      putAside(slot);
      return;
    }
    const reason = slot.shown && cache.mustLeave(slot.shown);
    if (reason) {
      leave(slot, true);
      empty(slot, reason);
      if (reason === 'expired') watcher?.onExpired?.(placementId);
    }
    const next = cache.current(placementId);
    if (next === undefined) return;
    if (isSameBanner(next, slot.shown)) {
      if (next) armExpiry(slot, next);
      else if (!slot.emptied) empty(slot, 'none');
    } else {
      const problems = next ? slot.check.problems(next) : [];
      if (problems === null) return;
      const may = next && isGated && problems.length === 0 ? watcher?.mayShow?.(slot, next) : true;
      if (may === undefined) return;
      const fitting = problems.length > 0 || !may ? null : next;
      // Never swap or take away a banner under the reader's eyes, nor open a closed slot there.
      const isDrawn = slot.shown && !slot.shown.isControl;
      const opens = slot.expand && fitting && !fitting.isControl;
      if ((isDrawn || opens) && !isRequested && isOnScreen(slot)) return;
      if (slot.shown || fitting) leave(slot, true);
      if (fitting) show(slot, slot.check.checked(fitting));
      else empty(slot, problems.length > 0 ? 'invalid' : may ? 'none' : 'held', problems);
    }
    settle(slot);
  };

  /** Gives room back, or takes an empty slot's room away. */
  const resize = (slot: MountedSlot): void => {
    // A slot that was unmounted meanwhile is the page's own again.
    if (!slots.has(slot)) return;
    slot.release?.();
    slot.release = undefined;
    if (!slot.clear) slot.expand ??= watcher?.collapse(slot.element);
  };

  /** The same where it moves nothing on screen. */
  const settle = (slot: MountedSlot): void => {
    if (slot.clear ? !slot.release : slot.expand) return;
    if (watcher?.canResize(slot.element)) resize(slot);
  };

  /**
   * Removed from the page without a word: a slot that is only moved is back before this runs. Vue's KeepAlive and a router that
   * reuses routes may put it back later, and then it is drawn again. The oldest go, so that none can pile up.
   */
  const putAside = (slot: MountedSlot): void => {
    if (slot.shown || slot.clear) leave(slot, false);
    slot.emptied = null;
    const aside = all().filter((each) => each.wasConnected && !each.element.isConnected);
    for (const oldest of aside.slice(0, -MAX_ASIDE)) unmount(oldest);
  };

  const unmount = (slot: MountedSlot): void => {
    if (!slots.delete(slot)) return;
    slot.unwatch?.();
    leave(slot, false);
    slot.release?.();
    slot.expand?.();
  };

  const all = (): MountedSlot[] => [...slots];

  return {
    mount(placementId: string, element: HTMLElement, hook: PlacementHook): () => void {
      // One that is only moved is back by then.
      queueMicrotask(() => {
        for (const other of all()) if (other.wasConnected && !other.element.isConnected) putAside(other);
      });
      const check = createBannerCheck({
        hook,
        onProblems(banner, problems) {
          const message = `Banner "${banner.id}" does not fit "${placementId}": ${problems.map(problemText).join('; ')}`;
          fail('property', message, problems);
        },
        onError: (cause) => report(slot, cause),
        onLate: () => consider(slot),
      });
      const slot: MountedSlot = { placementId, element, hook, check, shown: null };
      if (consent.mayWrite()) slot.release = boxes.reserve(element, placementId);
      slots.add(slot);
      slot.unwatch = watcher?.watch?.(slot);
      consider(slot);
      return () => unmount(slot);
    },

    /**
     * Looks at every slot again: the cache has changed, a banner went out of view, the page was hidden. `isRequested`: the
     * person who looks at the page requested the change.
     */
    considerAll(isRequested?: boolean): void {
      for (const slot of all()) consider(slot, isRequested);
    },

    /** From now on every slot is watched, and empty slots give their room back. */
    attach(slotWatcher: SlotWatcher): void {
      watcher = slotWatcher;
      for (const slot of all()) {
        slot.unwatch ??= slotWatcher.watch?.(slot);
        consider(slot);
      }
    },

    /** A banner the user sent away here leaves with its room: the movement answers their own input. */
    sendAway(banner: Banner): void {
      for (const slot of all()) {
        if (slot.placementId !== banner.placementId || slot.shown?.id !== banner.id) continue;
        leave(slot, false);
        empty(slot, 'dismissed');
        resize(slot);
      }
    },

    unmountAll(): void {
      for (const slot of all()) unmount(slot);
    },
  };
};

export type Placements = ReturnType<typeof createPlacements>;
