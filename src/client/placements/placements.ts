import type { Banner } from '../banner.ts';
import type { Notice, Notify } from '../notice.ts';
import type { Drawn, Place, PlacementHook, Problem } from '../placement-hook.ts';
import type { Clock } from '../platform/clock.ts';
import { type BannerCheck, createBannerCheck, isSameBanner } from './banner-check.ts';
import { collapseBox, holdBox } from './box.ts';
import { fillPlace } from './fill-place.ts';
import { canResize, isOnScreen } from './on-screen.ts';
import { createSlot, type SlotVerbs } from './slot.ts';

export type EmptyReason = Extract<Notice, { type: 'emptied' }>['reason'];

/** One element that shows a placement. */
export interface Mounted {
  placementId: string;
  element: HTMLElement;
  /** The banner in the slot; a control banner is here too, though nothing is drawn. */
  shown: Banner | null;
  /** Why nothing is drawn. */
  emptied?: EmptyReason | null;
  check: BannerCheck;
}

/** Watches one slot's visibility until the returned function is called. */
export type Watch = (mounted: Mounted) => () => void;

interface PlacementsOptions extends SlotVerbs {
  /** Keeps the room of the last visit; returns how to give it back. */
  reserve: (element: HTMLElement, placementId: string) => (() => void) | undefined;
  /** What the placement should show now; `undefined` while nobody knows. */
  current: (placementId: string) => Banner | null | undefined;
  /** Why a banner may not stay until it is out of view, or `null` where it may. */
  mustLeave: (banner: Banner) => EmptyReason | null;
  /** Where the present answer came from. */
  source: (placementId: string) => 'cache' | 'sync';
  expiresInMs: (banner: Banner) => number;
  after: Clock['after'];
  notify: Notify;
}

interface MountedPlace extends Mounted {
  hook: PlacementHook;
  /** Takes back what is drawn. */
  clear?: (() => void) | undefined;
  /** Gives back the room that is kept. */
  release?: (() => void) | undefined;
  /** Opens a place that is closed because it is empty. */
  expand?: (() => void) | undefined;
  unwatch?: (() => void) | undefined;
  cancelExpiry?: () => void;
  wasConnected?: boolean;
}

/** The mounted slots: what is drawn in each, and when it may change. */
export const createPlacements = (options: PlacementsOptions) => {
  const { reserve, current, mustLeave, source, expiresInMs, after, notify } = options;
  const places = new Set<MountedPlace>();
  let watch: Watch | undefined;
  let tellChange: ((mounted: Mounted) => void) | undefined;

  const report = ({ placementId }: Mounted, cause: unknown): void =>
    notify({ type: 'failed', kind: 'hook', message: `The hook of "${placementId}" threw`, cause });

  const fill = (
    place: MountedPlace,
    draw: (where: Place) => Drawn,
    onError = (cause: unknown) => report(place, cause),
  ): void => {
    const { element, placementId, shown } = place;
    const clear = fillPlace(element, (signal) => draw({ element, placementId, signal }), onError);
    // The draw may have failed, and something else been drawn since; or it sent its own banner away, or unmounted itself.
    if (place.shown === shown && places.has(place)) place.clear = clear ?? place.clear;
    else clear?.();
  };

  /** Takes out what is drawn. On screen its room stays, so that nothing below jumps. */
  const leave = (place: MountedPlace, keepRoom: boolean): void => {
    const { element, clear } = place;
    place.cancelExpiry?.();
    if (clear && keepRoom && isOnScreen(element)) {
      const height = element.offsetHeight;
      place.release?.();
      place.release = holdBox(element, height);
    }
    place.shown = null;
    place.clear = undefined;
    clear?.();
    tellChange?.(place);
  };

  /** Shows what the hook has for an empty place, once for each reason. */
  const empty = (place: MountedPlace, reason: EmptyReason, problems: readonly Problem[] = []): void => {
    if (place.emptied === reason || !places.has(place)) return;
    place.emptied = reason;
    const { hook, placementId } = place;
    place.clear?.();
    place.clear = undefined;
    if (problems.length > 0 && hook.invalid) fill(place, (where) => hook.invalid?.(problems, where));
    else if (hook.empty) fill(place, (where) => hook.empty?.(where));
    notify({ type: 'emptied', placementId, reason });
  };

  const show = (place: MountedPlace, banner: Banner): void => {
    // What took the former banner out may have unmounted the place.
    if (!places.has(place)) return;
    place.shown = banner;
    place.emptied = null;
    armExpiry(place, banner);
    tellChange?.(place);
    if (banner.isControl) {
      empty(place, 'control');
      return;
    }
    place.expand?.();
    place.expand = undefined;
    fill(
      place,
      (where) => place.hook(banner, createSlot(banner, where, options)),
      (cause) => {
        report(place, cause);
        if (place.shown !== banner) return;
        place.check.condemn(banner);
        leave(place, true);
        empty(place, 'invalid');
      },
    );
    if (place.shown === banner) notify({ type: 'shown', banner, from: source(place.placementId) });
  };

  const armExpiry = (place: MountedPlace, shown: Banner): void => {
    place.cancelExpiry?.();
    const wait = expiresInMs(shown);
    if (wait === Number.POSITIVE_INFINITY) return;
    place.cancelExpiry = after(Math.max(0, wait) + 1, () => consider(place));
  };

  /** Brings one slot to what it should show, as far as nobody is looking at what would change, or somebody who wants it. */
  const consider = (place: MountedPlace, isWanted?: boolean): void => {
    const { element, placementId } = place;
    if (!places.has(place)) return;
    if (element.isConnected) place.wasConnected = true;
    else if (place.wasConnected) {
      // Removed from the page without a word. A slot that is only moved is back before this runs.
      unmount(place);
      return;
    }
    const reason = place.shown && mustLeave(place.shown);
    if (reason) {
      leave(place, true);
      empty(place, reason);
    }
    const next = current(placementId);
    if (next === undefined) return;
    if (isSameBanner(next, place.shown)) {
      if (next) armExpiry(place, next);
      else if (!place.emptied) empty(place, 'none');
    } else {
      const problems = next ? place.check.problems(next) : [];
      if (problems === null) return;
      const wanted = problems.length > 0 ? null : next;
      // Never swap or take away what is under the reader's eyes, nor open a closed place there.
      const isDrawn = place.shown && !place.shown.isControl;
      const opens = place.expand && wanted && !wanted.isControl;
      if ((isDrawn || opens) && !isWanted && isOnScreen(element)) return;
      if (place.shown || wanted) leave(place, true);
      if (wanted) show(place, place.check.checked(wanted));
      else empty(place, problems.length > 0 ? 'invalid' : 'none', problems);
    }
    settle(place);
  };

  /** Gives room back, or takes an empty place's room away. */
  const resize = (place: MountedPlace): void => {
    // A place that was unmounted meanwhile is the page's own again.
    if (!places.has(place)) return;
    place.release?.();
    place.release = undefined;
    if (!place.clear) place.expand ??= collapseBox(place.element);
  };

  /** The same where it moves nothing on screen. */
  const settle = (place: MountedPlace): void => {
    if (place.clear ? !place.release : place.expand) return;
    if (canResize(place.element)) resize(place);
  };

  const unmount = (place: MountedPlace): void => {
    if (!places.delete(place)) return;
    place.unwatch?.();
    leave(place, false);
    place.release?.();
    place.expand?.();
  };

  const all = (): MountedPlace[] => [...places];

  return {
    mount(placementId: string, element: HTMLElement, hook: PlacementHook): () => void {
      // Slots that left the page without an unmount go, so that none can pile up. One that is only moved is back by then.
      queueMicrotask(() => {
        for (const other of all()) if (other.wasConnected && !other.element.isConnected) unmount(other);
      });
      const check = createBannerCheck({
        hook,
        onProblems(banner, problems) {
          const message = `Banner "${banner.id}" does not fit "${placementId}": ${problems.map((each) => each.message).join('; ')}`;
          notify({ type: 'failed', kind: 'property', message, cause: problems });
        },
        onError: (cause) => report(place, cause),
        onLate: () => consider(place),
      });
      const place: MountedPlace = { placementId, element, hook, check, shown: null };
      place.release = reserve(element, placementId);
      places.add(place);
      place.unwatch = watch?.(place);
      consider(place);
      return () => unmount(place);
    },

    /**
     * Looks at every slot again: the cache has changed, a banner went out of view, the page was hidden. `isWanted`: who looks
     * at the page has asked for the change.
     */
    considerAll(isWanted?: boolean): void {
      for (const place of all()) consider(place, isWanted);
    },

    /** From now on every slot is watched, and `onChange` hears when one has another banner. */
    watchWith(next: Watch, onChange: (mounted: Mounted) => void): void {
      watch = next;
      tellChange = onChange;
      for (const place of all()) place.unwatch ??= next(place);
    },

    /** A banner the user sent away here leaves with its room: the movement answers their own input. */
    sendAway(banner: Banner): void {
      for (const place of all()) {
        if (place.placementId !== banner.placementId || place.shown?.id !== banner.id) continue;
        leave(place, false);
        empty(place, 'dismissed');
        resize(place);
      }
    },

    unmountAll(): void {
      for (const place of all()) unmount(place);
    },
  };
};

export type Placements = ReturnType<typeof createPlacements>;
