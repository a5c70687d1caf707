import { safeUrl } from '../../protocol/index.ts';
import type { Banner, EventType, TrackOptions } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Fail, Notice } from '../notices.ts';
import type { Issue, PlacementCleanup, PlacementHook, Slot, SlotContext } from '../placement-hook.ts';
import type { Viewability } from './viewability.ts';

export type EmptyReason = Extract<Notice, { type: 'hidden' }>['reason'];

/**
 * Content of a slot, or reason that no banner is rendered. Each decision about a banner creates a new object, so that a hook that
 * fails later or changes the slot during its render can be detected. `UNDECIDED` and `UNMOUNTED` render nothing, and are shared
 * by all slots. Only `setState` in `placements.ts` replaces it.
 */
export type SlotState = (
  | { banner: Banner; reason: null }
  | { banner: Banner; reason: 'control' }
  | { banner: null; reason: EmptyReason }
  | typeof UNDECIDED
  | typeof UNMOUNTED
) & {
  /** Clears the rendered content. */
  clear?: (() => void) | undefined;
  /** Whether the banner met the viewability rule. Set so that the banner is reported once. */
  isSeen?: boolean;
};
/** No response has arrived yet, or the element is detached. Compared by identity. */
export const UNDECIDED = { banner: null, reason: null };
/** Slot was unmounted. Compared by identity. */
export const UNMOUNTED = { banner: null, reason: null };

/** Result of the host's `shouldShow` for a banner. */
export interface ShouldShowResult {
  bannerId: string;
  /** `undefined` while the result is pending. */
  value: boolean | undefined;
  cancelSlow?: () => void;
}

/** Mounted element of a placement. */
export interface MountedSlot {
  placementId: string;
  element: HTMLElement;
  hook: PlacementHook;
  validation: BannerValidation;
  state: SlotState;
  /** Releases the reserved height. */
  release?: (() => void) | undefined;
  /** Expands a slot that is collapsed because it is empty. */
  expand?: (() => void) | undefined;
  unwatch?: (() => void) | undefined;
  /** Viewability of the slot; `undefined` if the slot is not watched. */
  view?: Viewability | undefined;
  result?: ShouldShowResult | undefined;
  cancelExpiry?: () => void;
  wasConnected?: boolean;
}

/** Returns whether two banners are equal as data, because the cache rereads its record from time to time. */
export const isSameBanner = (a: Banner | null | undefined, b: Banner | null | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** Formats a problem with its property path. */
const problemText = ({ message, path = [] }: Issue): string =>
  [path.map((part) => String(Object(part).key ?? part)).join('.'), message].filter(Boolean).join(': ');

const THREW: readonly Issue[] = [{ message: 'The hook threw' }];

export const reportHook = (fail: Fail, placementId: string, cause: unknown): void =>
  fail('hook', `The hook of "${placementId}" threw`, cause);

/**
 * Calls a hook's `validate` once per banner, and caches the result until there is another banner. Calls `onLate` when an
 * asynchronous check ends.
 */
export const createBannerValidation = (
  hook: PlacementHook,
  placementId: string,
  fail: Fail,
  onLate: () => void,
) => {
  let last: { banner: Banner; problems: readonly Issue[] | null } | undefined;

  const check = {
    /** Returns the banner's problems; `null` while an asynchronous check runs. */
    problems(banner: Banner): readonly Issue[] | null {
      if (last && isSameBanner(last.banner, banner)) return last.problems;
      if (banner.isControl || !hook.validate) return [];
      const result: typeof last = { banner, problems: null };
      last = result;
      const settle = (problems: readonly Issue[]): void => {
        result.problems = problems;
        // A check in JavaScript may return `false` for a valid banner.
        if (!(problems.length > 0)) return;
        const message = `Banner "${banner.id}" is invalid for "${placementId}": ${problems.map(problemText).join('; ')}`;
        fail('invalid-banner', message, problems);
      };
      const onError = (cause: unknown): void => {
        reportHook(fail, placementId, cause);
        result.problems = THREW;
      };
      try {
        const problems = hook.validate(banner) as Partial<Promise<readonly Issue[]>> & readonly Issue[];
        // Recognized by its `then` and wrapped, because it may be another library's promise, as with zone.js. Not by `in`,
        // because a check in JavaScript may return `false` for a valid banner.
        if (problems.then) void Promise.resolve(problems).then(settle).catch(onError).then(onLate);
        else settle(problems);
      } catch (cause) {
        onError(cause);
      }
      return result.problems;
    },

    /** Returns the banner object that was checked, so that a hook can look up data that it stored for the object. */
    checked: (banner: Banner): Banner => (last && isSameBanner(last.banner, banner) ? last.banner : banner),

    /** Marks a banner whose hook threw, so that the hook is not retried. */
    markInvalid(banner: Banner): void {
      last = { banner, problems: THREW };
    },
  };
  return check;
};

export type BannerValidation = ReturnType<typeof createBannerValidation>;

/** Methods of a slot: `track.ts` and `banners/snooze.ts`. */
export interface SlotActions {
  track: (banner: Banner, type: EventType, options?: TrackOptions) => Promise<unknown>;
  snooze: (banner: Banner, hours: number) => Promise<unknown>;
  fail: Fail;
  cache: Pick<BannerCache, 'now'>;
}

/** Creates the slot object of a hook, whose methods apply to this banner. */
export const createSlot = (
  banner: Banner,
  context: SlotContext,
  { track, snooze, fail, cache }: SlotActions,
): Slot => ({
  ...context,
  click: async (buttonId) => void (await track(banner, 'click', { buttonId })),
  dismiss: async () => void (await track(banner, 'dismiss')),
  snooze: async (hours) => void (await snooze(banner, hours)),
  safeUrl(url, use) {
    const safe = safeUrl(url, use);
    if (safe === null) {
      fail(
        'url',
        `A ${use} URL of banner "${banner.id}" in "${context.placementId}" has no allowed scheme`,
        url,
      );
    }
    return safe;
  },
  now: cache.now,
  report: fail,
});

/**
 * Runs a host function that renders into the element. Returns its cleanup; `undefined` if it threw. Calls `onError` with
 * synchronous and asynchronous errors, after it has cleared the element.
 */
export const fillSlot = (
  element: HTMLElement,
  render: (signal: AbortSignal) => PlacementCleanup,
  onError: (cause: unknown) => void,
): (() => void) | undefined => {
  const before = new Set(element.childNodes);
  const abort = new AbortController();
  let rendered: unknown;
  let isOver = false;

  /**
   * Handles the rejection of an async hook, which would otherwise be an unhandled rejection of the page. Recognized by its
   * `then`, because `Promise` may be replaced, as by zone.js.
   */
  const watch = (made: unknown): void => {
    (made as PromiseLike<unknown> | undefined)?.then?.(undefined, fail);
  };

  const clear = (): void => {
    if (isOver) return;
    isOver = true;
    abort.abort();
    if (typeof rendered === 'function') {
      try {
        watch(rendered());
      } catch (cause) {
        onError(cause);
      }
      return;
    }
    // Without a cleanup function, added nodes are removed. A framework's own cleanup would fail on missing nodes.
    for (const node of [...element.childNodes]) if (!before.has(node)) node.remove();
  };

  const fail = (cause: unknown): void => {
    clear();
    onError(cause);
  };
  try {
    rendered = render(abort.signal);
    watch(rendered);
  } catch (cause) {
    fail(cause);
    return undefined;
  }
  return clear;
};
