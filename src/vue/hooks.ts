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

/**
 * What the placement would show now, kept up to date: `null` for no banner, `undefined` before the first answer. On a
 * server and until it is mounted it is the bootstrap's. Reading does not count an impression and asks for nothing; mount
 * the placement for both.
 */
export const useBanner = (
  placementId: MaybeRefOrGetter<string>,
): Readonly<ShallowRef<Banner | null | undefined>> => {
  const placard = usePlacard();
  const banner = shallowRef<Banner | null | undefined>(useBootstrap()?.banners[toValue(placementId)]);
  // Not before: what a server has rendered is hydrated as it is.
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
