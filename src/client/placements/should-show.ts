import type { Banner } from '../banner.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { MountedSlot, ShouldShowResult } from './slot.ts';

/** Time without a result after which a notice reports the pending `shouldShow`, in milliseconds. */
const SLOW_MS = 10_000;

/**
 * Calls the host's `shouldShow` once for each banner of a slot. It is in the trouble chunk, because few pages have a
 * `shouldShow`. Only on these pages, a cached banner waits for the chunk.
 */
export const createShouldShow = ({
  settings,
  placements,
  fail,
}: Pick<DeferredContext, 'settings' | 'placements' | 'fail'>) => {
  /** Discards the result of a slot. */
  const clear = (mounted: MountedSlot): void => {
    mounted.result?.cancelSlow?.();
    mounted.result = undefined;
  };

  return {
    clear,
    /** Returns whether the slot may show the banner; `undefined` while the result is pending. */
    evaluate(mounted: MountedSlot, banner: Banner): boolean | undefined {
      if (mounted.result?.bannerId === banner.id) return mounted.result.value;
      clear(mounted);
      const result: ShouldShowResult = { bannerId: banner.id, value: undefined };
      mounted.result = result;
      const { element, placementId } = mounted;
      const settle = (returned: unknown): void => {
        result.cancelSlow?.();
        result.value = returned !== false;
      };
      // If `shouldShow` fails, nothing is shown, because the host may have a reason to block, such as an open consent dialog.
      const failed = (cause: unknown): void => {
        settle(false);
        fail('hook', `shouldShow() of "${placementId}" threw`, cause);
      };
      try {
        const returned = settings.shouldShow!(banner, { element, placementId });
        // Recognized by its `then`, because it may be another library's promise, as with zone.js.
        if ((returned as Partial<Promise<boolean>> | undefined)?.then) {
          const slow = (): void => {
            const state = `is still pending after ${SLOW_MS} ms: no banner is shown`;
            fail('hook', `shouldShow() of "${placementId}" ${state}`);
          };
          result.cancelSlow = settings.platform.after(SLOW_MS, slow);
          void Promise.resolve(returned)
            .then(settle, failed)
            .then(() => placements.updateAll());
        } else settle(returned);
      } catch (cause) {
        failed(cause);
      }
      return result.value;
    },
    /** Calls `shouldShow` again for blocked and pending banners. */
    reevaluate(): void {
      for (const mounted of placements.slots()) if (!mounted.result?.value) clear(mounted);
      placements.updateAll();
    },
  };
};

export type ShouldShow = ReturnType<typeof createShouldShow>;
