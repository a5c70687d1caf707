import type { Placard } from '../client/index.ts';

/** Minimum and maximum delay until an expiring banner is checked again, in milliseconds. */
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/**
 * Calls `changed` when `placard.banner(placementId)` may have changed, including by expiry. Returns a function that unsubscribes.
 */
export const watchBanner = (placard: Placard, placementId: string, changed: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const arm = (): void => {
    clearTimeout(timer);
    const expiresAt = placard.banner(placementId)?.expiresAt ?? null;
    if (expiresAt === null) return;
    timer = setTimeout(look, Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, expiresAt - Date.now())));
  };
  const look = (): void => {
    arm();
    changed();
  };
  arm();
  const unsubscribe = placard.subscribe(look);
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
};
