import {
  type MaybeRefOrGetter,
  onMounted,
  type Ref,
  type ShallowRef,
  shallowRef,
  toValue,
  unref,
  watch,
} from 'vue';
import { followHook, watchBanner } from '../bindings/index.ts';
import type { Banner, PlacementHook } from '../client/index.ts';
import { useBootstrap, usePlacard } from './provided.ts';

/**
 * Shows a placement in the element of the returned template ref. Mounts once per placement and element, and renders with the
 * current value of `hook`.
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
    // Runs before the browser paints, so that a cached banner is in the first frame.
    { flush: 'post' },
  );
  return element;
};

/**
 * Returns a ref to the current banner of a placement: `null` if none, `undefined` before the first response. On a server and
 * until mounted, it has the banner of `bootstrap`. Does not count impressions or request banners; mount the placement to do so.
 */
export const useBanner = (
  placementId: MaybeRefOrGetter<string>,
): Readonly<ShallowRef<Banner | null | undefined>> => {
  const placard = usePlacard();
  const banner = shallowRef<Banner | null | undefined>(useBootstrap()?.banners[toValue(placementId)]);
  // Subscribes only when mounted, because server-rendered markup must hydrate unchanged.
  onMounted(() => {
    if (!placard) return;
    const follow = (id: string, _: unknown, onCleanup: (stop: () => void) => void): void => {
      const look = (): void => {
        banner.value = placard.banner(id);
      };
      look();
      onCleanup(watchBanner(placard, id, look));
    };
    watch(() => toValue(placementId), follow, { immediate: true });
  });
  return banner;
};
