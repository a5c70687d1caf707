import { safeUrl } from '../../protocol/index.ts';
import type { Banner, EventType } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Fail, Notice } from '../notices.ts';
import type { Drawn, EmptySlot, PlacementHook, Problem, Slot } from '../placement-hook.ts';
import type { Viewability } from './viewability.ts';

export type EmptyReason = Extract<Notice, { type: 'emptied' }>['reason'];

/**
 * What a slot shows, and why no banner is drawn. Each decision about a banner makes a new object, so that a hook that fails late, or
 * changes the slot while it draws, is known by it; `UNDECIDED` and `UNMOUNTED` draw nothing, and are one object for all slots.
 * `turn` in `placements.ts` alone changes a slot's state.
 */
export type SlotState = (
  | { banner: Banner; why: null }
  | { banner: Banner; why: 'control' }
  | { banner: null; why: EmptyReason }
  | typeof UNDECIDED
  | typeof UNMOUNTED
) & {
  /** Takes back what was drawn. */
  clear?: (() => void) | undefined;
  /** The banner's second in view is over, so that it is reported once. */
  isSeen?: boolean;
};
/** There is no answer so far, or the element is not in the page. */
export const UNDECIDED = { banner: null, why: null };
/** The slot is the page's own again. */
export const UNMOUNTED = { banner: null, why: null };

/** What the host's `mayShow` has answered for a banner. */
export interface Verdict {
  bannerId: string;
  /** `undefined` while the host has not answered. */
  may: boolean | undefined;
  cancelSlow?: () => void;
}

/** One element that shows a placement. */
export interface MountedSlot {
  placementId: string;
  element: HTMLElement;
  hook: PlacementHook;
  check: BannerCheck;
  state: SlotState;
  /** Gives back the room that is kept. */
  release?: (() => void) | undefined;
  /** Opens a slot that is closed because it is empty. */
  expand?: (() => void) | undefined;
  unwatch?: (() => void) | undefined;
  /** How much of it is seen; `undefined` where nothing tells. */
  view?: Viewability | undefined;
  /** The last one for this slot. */
  verdict?: Verdict | undefined;
  cancelExpiry?: () => void;
  wasConnected?: boolean;
}

/** Two answers for the same banner are equal as data; the cache reads its record anew now and then. */
export const isSameBanner = (a: Banner | null | undefined, b: Banner | null | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** A problem in words, with the property that has it. */
const problemText = ({ message, path = [] }: Problem): string =>
  [path.map((part) => String(Object(part).key ?? part)).join('.'), message].filter(Boolean).join(': ');

const THREW: readonly Problem[] = [{ message: 'The hook threw' }];

/** Tells the host that its hook has failed. */
export const reportHook = (fail: Fail, placementId: string, cause: unknown): void =>
  fail('hook', `The hook of "${placementId}" threw`, cause);

/**
 * Calls a hook's check once for a banner, and keeps its verdict until there is another banner. `onLate` is called when a check
 * that took its time has come to its end.
 */
export const createBannerCheck = (
  hook: PlacementHook,
  placementId: string,
  fail: Fail,
  onLate: () => void,
) => {
  let last: { banner: Banner; problems: readonly Problem[] | null } | undefined;

  const check = {
    /** The banner's problems; `null` while an asynchronous check runs. */
    problems(banner: Banner): readonly Problem[] | null {
      if (last && isSameBanner(last.banner, banner)) return last.problems;
      if (banner.isControl || !hook.check) return [];
      const mine: typeof last = { banner, problems: null };
      last = mine;
      const settle = (problems: readonly Problem[]): void => {
        mine.problems = problems;
        // In JavaScript a check may answer `false` where a banner fits.
        if (!(problems.length > 0)) return;
        const message = `Banner "${banner.id}" does not fit "${placementId}": ${problems.map(problemText).join('; ')}`;
        fail('property', message, problems);
      };
      const onError = (cause: unknown): void => {
        reportHook(fail, placementId, cause);
        mine.problems = THREW;
      };
      try {
        const problems = hook.check(banner) as Partial<Promise<readonly Problem[]>> & readonly Problem[];
        // Recognised by its `then`, and made a promise of ours: it may be another library's, as with zone.js. Not by `in`: a host
        // in JavaScript answers `false` as well, where a banner fits.
        if (problems.then) void Promise.resolve(problems).then(settle).catch(onError).then(onLate);
        else settle(problems);
      } catch (cause) {
        onError(cause);
      }
      return mine.problems;
    },

    /** The very object that was checked, so that a hook finds what it learned from it. */
    checked: (banner: Banner): Banner => (last && isSameBanner(last.banner, banner) ? last.banner : banner),

    /** The hook threw at this banner: it is not tried again. */
    markInvalid(banner: Banner): void {
      last = { banner, problems: THREW };
    },
  };
  return check;
};

export type BannerCheck = ReturnType<typeof createBannerCheck>;

export interface SlotVerbs {
  track: (banner: Banner, type: EventType) => Promise<unknown>;
  snooze: (banner: Banner, hours: number) => Promise<unknown>;
  fail: Fail;
  cache: Pick<BannerCache, 'now'>;
}

/** What a hook gets beside its banner: the slot, and verbs that speak for this banner alone. */
export const createSlot = (
  banner: Banner,
  empty: EmptySlot,
  { track, snooze, fail, cache }: SlotVerbs,
): Slot => ({
  ...empty,
  click: async () => void (await track(banner, 'click')),
  dismiss: async () => void (await track(banner, 'dismiss')),
  snooze: async (hours) => void (await snooze(banner, hours)),
  safeUrl(url, use) {
    const safe = safeUrl(url, use);
    if (safe === null) {
      fail('url', `A URL of banner "${banner.id}" in "${empty.placementId}" was refused as ${use}`, url);
    }
    return safe;
  },
  now: cache.now,
  report: fail,
});

/**
 * Lets a host function draw into the element, and returns how to take that back, `undefined` where it threw. What it
 * throws, then or later, goes to `onError`, with nothing of it left in the element.
 */
export const fillSlot = (
  element: HTMLElement,
  draw: (signal: AbortSignal) => Drawn,
  onError: (cause: unknown) => void,
): (() => void) | undefined => {
  const before = new Set(element.childNodes);
  const abort = new AbortController();
  let drawn: unknown;
  let isOver = false;

  /**
   * A hook need not be async, but the failure of one must not become an unhandled rejection of the page. Recognised by
   * its `then`: an async function's promise is no instance of a `Promise` that someone has replaced, as zone.js does.
   */
  const watch = (made: unknown): void => {
    (made as PromiseLike<unknown> | undefined)?.then?.(undefined, fail);
  };

  const clear = (): void => {
    if (isOver) return;
    isOver = true;
    abort.abort();
    if (typeof drawn === 'function') {
      try {
        watch(drawn());
      } catch (cause) {
        onError(cause);
      }
      return;
    }
    // Without a cleanup of its own (a framework's would stumble over it), what the host added goes.
    for (const node of [...element.childNodes]) if (!before.has(node)) node.remove();
  };

  const fail = (cause: unknown): void => {
    clear();
    onError(cause);
  };
  try {
    drawn = draw(abort.signal);
    watch(drawn);
  } catch (cause) {
    fail(cause);
    return undefined;
  }
  return clear;
};
