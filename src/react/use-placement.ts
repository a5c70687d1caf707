import { type RefCallback, useCallback, useRef, useState } from 'react';
import { followHook } from '../bindings/index.ts';
import type { PlacementHook } from '../client/index.ts';
import { useEffectBeforePaint } from './before-paint.ts';
import { usePlacard } from './context.ts';

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
