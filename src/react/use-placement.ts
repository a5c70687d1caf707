import { type RefCallback, useCallback, useRef, useState } from 'react';
import type { PlacementHook } from '../client/index.ts';
import { useEffectBeforePaint } from './before-paint.ts';
import { usePlacard } from './context.ts';

/** A hook that always follows the latest one, so that an inline function does not mount anew on each render. */
const latestOf = (latest: { current: PlacementHook }): PlacementHook => {
  /** Whose check took its time: that hook draws, since a later one could not say at once what fits. */
  let slow: PlacementHook | undefined;
  const follow: PlacementHook = (banner, slot) => (slow ?? latest.current)(banner, slot);
  const { check, empty, invalid } = latest.current;
  // Only the parts that exist: a placement that draws something when it is empty is not collapsed.
  if (check) {
    follow.check = (banner) => {
      const hook = latest.current;
      const problems = hook.check?.(banner) ?? [];
      slow = typeof (problems as Partial<PromiseLike<unknown>>).then === 'function' ? hook : undefined;
      return problems;
    };
  }
  if (empty) follow.empty = (slot) => latest.current.empty?.(slot);
  if (invalid) follow.invalid = (problems, slot) => latest.current.invalid?.(problems, slot);
  return follow;
};

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
    return placard.mount(placementId, element, latestOf(latest));
  }, [placard, placementId, element]);
  return useCallback((node: HTMLElement | null) => setElement(node), []);
};
