import {
  type RefCallback,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { followHook, watchBanner } from '../bindings/index.ts';
import type { Banner, PlacementHook } from '../client/index.ts';
import { useBootstrap, usePlacard } from './context.ts';

/** Before the browser paints, so that a cached banner is in the first frame; React warns of it on servers. */
export const useEffectBeforePaint = typeof document === 'undefined' ? useEffect : useLayoutEffect;

/**
 * Shows a placement in the element that gets the returned ref. Mounts once for each client, placement and element;
 * the double mount of StrictMode is one impression, because impressions are counted per banner, placement and session.
 */
export const usePlacement = (placementId: string, hook: PlacementHook): RefCallback<HTMLElement> => {
  const placard = usePlacard();
  const [element, setElement] = useState<HTMLElement | null>(null);
  const latest = useRef(hook);
  useEffectBeforePaint(() => {
    latest.current = hook;
  });
  useEffectBeforePaint(() => {
    if (!placard || !element) return;
    return placard.mount(
      placementId,
      element,
      followHook(() => latest.current),
    );
  }, [placard, placementId, element]);
  return useCallback((node: HTMLElement | null) => setElement(node), []);
};

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
