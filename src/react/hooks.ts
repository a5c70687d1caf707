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

/**
 * Runs before the browser paints, so that a cached banner is in the first frame. Not a layout effect on servers, because React
 * would warn.
 */
export const useEffectBeforePaint = typeof document === 'undefined' ? useEffect : useLayoutEffect;

/**
 * Shows a placement in the element of the returned ref. Mounts once per client, placement and element. The double mount of
 * StrictMode causes one impression, because impressions are counted per banner, placement and session.
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
 * Returns the current banner of a placement and re-renders on changes: `null` if none, `undefined` before the first response. On
 * a server and during hydration, returns the banner of `bootstrap`. Does not count impressions or request banners; mount the
 * placement to do so.
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
