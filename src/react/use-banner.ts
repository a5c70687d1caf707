import { useCallback, useSyncExternalStore } from 'react';
import { watchBanner } from '../bindings/index.ts';
import type { Banner } from '../client/index.ts';
import { useBootstrap, usePlacard } from './context.ts';

/**
 * What the placement would show now, kept up to date: `null` where none is for this user, `undefined` before the first
 * answer. On a server and while the browser hydrates it is the bootstrap's. Reading does not count an impression and asks for nothing; mount the placement for both.
 */
export const useBanner = (placementId: string): Banner | null | undefined => {
  const placard = usePlacard();
  const read = useCallback(() => placard?.banner(placementId), [placard, placementId]);
  const subscribe = useCallback(
    (changed: () => void) => (placard ? watchBanner(placard, placementId, changed) : () => undefined),
    [placard, placementId],
  );
  const bootstrap = useBootstrap();
  return useSyncExternalStore(subscribe, read, () => bootstrap?.banners[placementId]);
};
