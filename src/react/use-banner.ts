import { useCallback, useSyncExternalStore } from 'react';
import type { Banner } from '../client/index.ts';
import { usePlacard } from './context.ts';

const unknown = () => undefined;

/**
 * What the placement would show now, kept up to date: `null` for nobody eligible, `undefined` while nobody knows and on a
 * server. Reading does not count an impression and asks for nothing; mount the placement for both.
 */
export const useBanner = (placementId: string): Banner | null | undefined => {
  const placard = usePlacard();
  const subscribe = useCallback(
    (changed: () => void) => placard?.subscribe(() => changed()) ?? (() => undefined),
    [placard],
  );
  const read = useCallback(() => placard?.banner(placementId), [placard, placementId]);
  return useSyncExternalStore(subscribe, read, unknown);
};
