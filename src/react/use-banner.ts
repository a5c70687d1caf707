import { useCallback, useSyncExternalStore } from 'react';
import { watchBanner } from '../bindings/index.ts';
import type { Banner } from '../client/index.ts';
import { usePlacard } from './context.ts';

const unknown = () => undefined;

/**
 * What the placement would show now, kept up to date: `null` where none is for this user, `undefined` before the first
 * answer and on a server. Reading does not count an impression and asks for nothing; mount the placement for both.
 */
export const useBanner = (placementId: string): Banner | null | undefined => {
  const placard = usePlacard();
  const read = useCallback(() => placard?.banner(placementId), [placard, placementId]);
  const subscribe = useCallback(
    (changed: () => void) => (placard ? watchBanner(placard, placementId, changed) : () => undefined),
    [placard, placementId],
  );
  return useSyncExternalStore(subscribe, read, unknown);
};
