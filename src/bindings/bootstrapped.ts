import type { BannerBootstrap, Slot } from '../client/index.ts';
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
    safeUrl,
    now: Date.now,
    report: () => undefined,
  };
  return { banner, slot: slot as Slot, onError: () => undefined };
};
