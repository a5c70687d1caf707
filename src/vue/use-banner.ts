import { type MaybeRefOrGetter, onMounted, type ShallowRef, shallowRef, toValue, watch } from 'vue';
import { watchBanner } from '../bindings/index.ts';
import type { Banner } from '../client/index.ts';
import { useBootstrap, usePlacard } from './provided.ts';

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
