import type { BannerBootstrap, Notice, Placard, Slot } from '../client/index.ts';
import { safeUrl } from '../protocol/index.ts';
import type { DrawnBanner } from './placement-hook.ts';

const nothing = async (): Promise<void> => undefined;

/**
 * What a server draws in a placement, and a browser once more before its client does. There is no element yet, and the
 * verbs do nothing: the client's own slot takes over before anybody can click.
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
    click: nothing,
    dismiss: nothing,
    snooze: nothing,
    safeUrl,
    now: Date.now,
    report: () => undefined,
  };
  return { banner, slot: slot as Slot, onError: () => undefined };
};

/**
 * Calls `leave` where the client knows better than the server: it has no banner there, or shows none, as for a control group or
 * by `mayShow`. Begins before the placement is mounted, and ends when the returned function is called.
 */
export const watchBootstrapped = (placard: Placard, placementId: string, leave: () => void): (() => void) => {
  const look = (notice?: Notice): void => {
    const isEmptied = notice?.type === 'emptied' && notice.placementId === placementId;
    if (isEmptied || !placard.banner(placementId)) leave();
  };
  look();
  return placard.subscribe(look);
};
