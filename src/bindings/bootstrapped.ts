import type { BannerBootstrap, Notice, Placard, Slot } from '../client/index.ts';
import { INERT_METHODS, safeUrl } from '../protocol/index.ts';
import type { DrawnBanner } from './placement-hook.ts';

/**
 * Renders a bootstrapped banner on the server, and during hydration before the client takes over. There is no element yet, and
 * the slot's methods do nothing.
 */
export const bootstrapped = (
  bootstrap: BannerBootstrap | null | undefined,
  placementId: string,
): DrawnBanner | null => {
  const banner = bootstrap?.banners[placementId];
  if (!banner || banner.isControl) return null;
  const slot: Omit<Slot, 'element'> = {
    placementId,
    signal: new AbortController().signal,
    ...INERT_METHODS,
    safeUrl,
    now: Date.now,
    report: () => undefined,
  };
  return { banner, slot: slot as Slot, onError: () => undefined };
};

/**
 * Calls `leave` if the client shows no banner in a placement that the server rendered, for example because of a control group or
 * `shouldShow`. Starts before the placement is mounted. Returns a function that unsubscribes.
 */
export const watchBootstrapped = (placard: Placard, placementId: string, leave: () => void): (() => void) => {
  const check = (notice?: Notice): void => {
    const isEmptied = notice?.type === 'hidden' && notice.placementId === placementId;
    if (isEmptied || !placard.banner(placementId)) leave();
  };
  check();
  return placard.subscribe(check);
};
