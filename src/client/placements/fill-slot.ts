import { safeUrl } from '../../protocol/index.ts';
import type { Banner, EventType } from '../banner.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Fail } from '../notices.ts';
import type { Drawn, EmptySlot, Slot } from '../placement-hook.ts';

export interface SlotVerbs {
  track: (banner: Banner, type: EventType) => Promise<unknown>;
  snooze: (banner: Banner, hours: number) => Promise<void>;
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
  snooze: (hours) => snooze(banner, hours),
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
