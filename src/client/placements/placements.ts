import type { Banner } from '../banner.ts';
import type { Notice, Notify } from '../notice.ts';
import type { Drawn, Place, PlacementHook, Problem, Slot } from '../placement-hook.ts';
import type { Clock } from '../platform/clock.ts';
import { collapseBox, holdBox } from './box.ts';
import { fillPlace } from './fill-place.ts';
import { canResize, isOnScreen } from './on-screen.ts';
import { safeUrl } from './safe-url.ts';

type EmptyReason = Extract<Notice, { type: 'emptied' }>['reason'];

/** One element that shows a placement. */
export interface Mounted {
  placementId: string;
  element: HTMLElement;
  /** The banner in the slot; a control banner is here too, though nothing is drawn. */
  shown: Banner | null;
}

/** Watches one slot's visibility until the returned function is called. */
export type Watch = (mounted: Mounted) => () => void;

interface PlacementsOptions {
  /** Keeps the room of the last visit; returns how to give it back. */
  reserve: (element: HTMLElement, placementId: string) => (() => void) | undefined;
  /** What the placement should show now; `undefined` while nobody knows. */
  current: (placementId: string) => Banner | null | undefined;
  /** Why a banner may not stay until it is out of view, or `null` where it may. */
  mustLeave: (banner: Banner) => EmptyReason | null;
  /** Where the present answer came from. */
  source: (placementId: string) => 'cache' | 'sync';
  expiresInMs: (banner: Banner) => number;
  click: (banner: Banner) => Promise<unknown>;
  dismiss: (banner: Banner) => Promise<unknown>;
  after: Clock['after'];
  notify: Notify;
}

interface MountedPlace extends Mounted {
  hook: PlacementHook;
  /** Takes back what is drawn. */
  clear: (() => void) | undefined;
  /** Gives back the room that is kept. */
  release: (() => void) | undefined;
  /** Opens a place that is closed because it is empty. */
  expand: (() => void) | undefined;
  unwatch: (() => void) | undefined;
  cancelExpiry: (() => void) | undefined;
  wasConnected: boolean;
  /** The last banner that went through the hook's check, and what came out; `null` while the check runs. */
  checked: { banner: Banner; problems: readonly Problem[] | null } | undefined;
  emptied: EmptyReason | null;
}

const isSame = (a: Banner | null | undefined, b: Banner | null | undefined): boolean =>
  a === b || (a?.id === b?.id && JSON.stringify(a) === JSON.stringify(b));

/** The mounted slots: what is drawn in each, and when it may change. */
export const createPlacements = (options: PlacementsOptions) => {
  const { reserve, current, mustLeave, source, expiresInMs, click, dismiss, after, notify } = options;
  const places = new Set<MountedPlace>();
  let watch: Watch | undefined;
  let tellChange: ((mounted: Mounted) => void) | undefined;

  const report = (place: Mounted, cause: unknown): void =>
    notify({ type: 'failed', kind: 'hook', message: `The hook of "${place.placementId}" threw`, cause });

  const fill = (
    place: MountedPlace,
    draw: (place: Place) => Drawn,
    onError: (cause: unknown) => void,
  ): void => {
    const { element, placementId } = place;
    const clear = fillPlace(element, (signal) => draw({ element, placementId, signal }), onError);
    // After a failure `onError` may have drawn something else.
    if (clear) place.clear = clear;
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
    if (place.emptied === reason) return;
    place.emptied = reason;
    const { hook, placementId } = place;
    place.clear?.();
    place.clear = undefined;
    const onError = (cause: unknown) => report(place, cause);
    if (problems.length > 0 && hook.invalid) fill(place, (where) => hook.invalid?.(problems, where), onError);
    else if (hook.empty) fill(place, (where) => hook.empty?.(where), onError);
    notify({ type: 'emptied', placementId, reason });
  };

  const withBanner = (banner: Banner, place: Place): Slot => ({
    ...place,
    click: async () => void (await click(banner)),
    dismiss: async () => void (await dismiss(banner)),
    safeUrl(url, use) {
      const safe = safeUrl(url, use);
      if (safe === null) {
        const message = `A URL of banner "${banner.id}" in "${place.placementId}" was refused as ${use}`;
        notify({ type: 'failed', kind: 'url', message, cause: url });
      }
      return safe;
    },
  });

  const show = (place: MountedPlace, banner: Banner): void => {
    place.shown = banner;
    place.emptied = null;
    armExpiry(place);
    tellChange?.(place);
    if (banner.isControl) {
      empty(place, 'control');
      return;
    }
    place.expand?.();
    place.expand = undefined;
    fill(
      place,
      (where) => place.hook(banner, withBanner(banner, where)),
      (cause) => {
        report(place, cause);
        if (place.shown !== banner) return;
        // Not tried again: it would throw again.
        place.checked = { banner, problems: [{ message: 'The hook threw' }] };
        leave(place, true);
        empty(place, 'invalid');
      },
    );
    if (place.shown === banner) notify({ type: 'shown', banner, from: source(place.placementId) });
  };

  const armExpiry = (place: MountedPlace): void => {
    place.cancelExpiry?.();
    const wait = place.shown ? expiresInMs(place.shown) : Number.POSITIVE_INFINITY;
    if (wait === Number.POSITIVE_INFINITY) return;
    place.cancelExpiry = after(Math.max(0, wait) + 1, () => consider(place));
  };

  /** What is wrong with the banner; `null` while the hook has not made up its mind. */
  const problemsOf = (place: MountedPlace, banner: Banner): readonly Problem[] | null => {
    if (place.checked && isSame(place.checked.banner, banner)) return place.checked.problems;
    if (banner.isControl || !place.hook.check) return [];
    const checked: MountedPlace['checked'] = { banner, problems: null };
    place.checked = checked;
    const settleWith = (problems: readonly Problem[]) => {
      checked.problems = problems;
      if (problems.length === 0) return;
      const message = `Banner "${banner.id}" does not fit "${place.placementId}": ${problems.map((each) => each.message).join('; ')}`;
      notify({ type: 'failed', kind: 'property', message, cause: problems });
    };
    const fail = (cause: unknown) => {
      report(place, cause);
      checked.problems = [{ message: 'The check threw' }];
    };
    try {
      const problems = place.hook.check(banner);
      if (problems instanceof Promise) void problems.then(settleWith, fail).then(() => consider(place));
      else settleWith(problems);
    } catch (cause) {
      fail(cause);
    }
    return checked.problems;
  };

  /** Brings one slot to what it should show, as far as nobody is looking at what would change. */
  const consider = (place: MountedPlace): void => {
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
    if (isSame(next, place.shown)) {
      if (next) armExpiry(place);
      else if (!place.emptied) empty(place, 'none');
    } else {
      const problems = next ? problemsOf(place, next) : [];
      if (problems === null) return;
      const isInvalid = problems.length > 0;
      const wanted = isInvalid ? null : next;
      // Never swap or take away what is under the reader's eyes, nor open a closed place there.
      const isDrawn = place.shown !== null && !place.shown.isControl;
      const opens = place.expand !== undefined && wanted !== null && !wanted.isControl;
      if ((isDrawn || opens) && isOnScreen(element)) return;
      if (place.shown || wanted) leave(place, true);
      // The same object that was checked, so that a hook finds what it learned from it.
      if (wanted)
        show(place, place.checked && isSame(place.checked.banner, wanted) ? place.checked.banner : wanted);
      else empty(place, isInvalid ? 'invalid' : 'none', problems);
    }
    settle(place);
  };

  /** Gives room back, or takes an empty place's room away, where that moves nothing on screen. */
  const settle = (place: MountedPlace): void => {
    const { element, clear } = place;
    if (clear ? !place.release : place.expand) return;
    if (!canResize(element)) return;
    place.release?.();
    place.release = undefined;
    if (!clear) place.expand = collapseBox(element);
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
      // Slots that left the page without an unmount go first, so that none can pile up.
      for (const other of all()) if (other.wasConnected && !other.element.isConnected) unmount(other);
      const place: MountedPlace = {
        placementId,
        element,
        hook,
        shown: null,
        clear: undefined,
        release: reserve(element, placementId),
        expand: undefined,
        unwatch: undefined,
        cancelExpiry: undefined,
        wasConnected: false,
        checked: undefined,
        emptied: null,
      };
      places.add(place);
      place.unwatch = watch?.(place);
      consider(place);
      return () => unmount(place);
    },

    /** Looks at every slot again: the cache has changed, a banner went out of view, the page was hidden. */
    considerAll(): void {
      for (const place of all()) consider(place);
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
        place.release?.();
        place.release = undefined;
        if (!place.clear) place.expand ??= collapseBox(place.element);
      }
    },

    placementIds: (): string[] => [...new Set(all().map(({ placementId }) => placementId))],

    unmountAll(): void {
      for (const place of all()) unmount(place);
    },
  };
};

export type Placements = ReturnType<typeof createPlacements>;
