import { type MaybeRefOrGetter, type Ref, type ShallowRef, shallowRef, toValue, unref, watch } from 'vue';
import { followHook } from '../bindings/index.ts';
import type { PlacementHook } from '../client/index.ts';
import { usePlacard } from './provided.ts';

/**
 * Shows a placement in the element that gets the returned template ref. Mounts once for each placement and element; what
 * `hook` holds by then draws.
 */
export const usePlacement = (
  placementId: MaybeRefOrGetter<string>,
  hook: PlacementHook | Readonly<Ref<PlacementHook>>,
): ShallowRef<HTMLElement | null> => {
  const placard = usePlacard();
  const element = shallowRef<HTMLElement | null>(null);
  watch(
    [element, () => toValue(placementId)] as const,
    ([slot, id], _, onCleanup) => {
      if (placard && slot)
        onCleanup(
          placard.mount(
            id,
            slot,
            followHook(() => unref(hook)),
          ),
        );
    },
    // Before the browser paints, so that a cached banner is in the first frame.
    { flush: 'post' },
  );
  return element;
};
