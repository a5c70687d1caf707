import { useCallback, useSyncExternalStore } from 'react';
import type { Banner } from '../client/index.ts';
import { usePlacard } from './context.ts';

const unknown = () => undefined;

/** A banner that expires is looked at again when it should have, and at least and at most this often. */
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;

/** Calls back when the banner may have expired, until there is none. The device's clock may differ from the service's. */
const watchExpiry = (current: () => Banner | null | undefined, look: () => void): (() => void) => {
  const expiresAt = current()?.expiresAt ?? null;
  if (expiresAt === null) return () => undefined;
  const wait = Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, expiresAt - Date.now()));
  const timer = setTimeout(look, wait);
  return () => clearTimeout(timer);
};

/**
 * What the placement would show now, kept up to date: `null` where none is for this user, `undefined` before the first
 * answer and on a server. Reading does not count an impression and asks for nothing; mount the placement for both.
 */
export const useBanner = (placementId: string): Banner | null | undefined => {
  const placard = usePlacard();
  const read = useCallback(() => placard?.banner(placementId), [placard, placementId]);
  const subscribe = useCallback(
    (changed: () => void) => {
      const look = () => {
        unwatch();
        unwatch = watchExpiry(read, look);
        changed();
      };
      let unwatch = watchExpiry(read, look);
      const unsubscribe = placard?.subscribe(look);
      return () => {
        unsubscribe?.();
        unwatch();
      };
    },
    [placard, read],
  );
  return useSyncExternalStore(subscribe, read, unknown);
};
