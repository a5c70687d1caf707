import type { Placard } from '../client/index.ts';

/** Minimum and maximum delay until an expiring banner is checked again, in milliseconds. */
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/**
 * Calls `changed` when `placard.banner(placementId)` may have changed, including by expiry. Returns a function that unsubscribes.
 */
export const watchBanner = (placard: Placard, placementId: string, changed: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = (): void => {
    clearTimeout(timer);
    const expiresAt = placard.banner(placementId)?.expiresAt ?? null;
    if (expiresAt === null) return;
    timer = setTimeout(refresh, Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, expiresAt - Date.now())));
  };
  const refresh = (): void => {
    schedule();
    changed();
  };
  schedule();
  const unsubscribe = placard.subscribe(refresh);
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
};
