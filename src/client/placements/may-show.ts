import type { Banner } from '../banner.ts';
import type { LateContext } from '../late-context.ts';
import type { MountedSlot, Verdict } from './slot.ts';

/** After this long without an answer, in milliseconds, a notice says what the slot waits for. */
const SLOW_MS = 10_000;

/**
 * Asks the host's `mayShow` once for each banner of a slot. In the late chunk, as few pages have one: on those a cached banner waits
 * for it, on all others nothing does.
 */
export const createMayShow = ({
  settings,
  placements,
  fail,
}: Pick<LateContext, 'settings' | 'placements' | 'fail'>) => {
  /** What was answered for this slot no longer counts. */
  const forget = (mounted: MountedSlot): void => {
    mounted.verdict?.cancelSlow?.();
    mounted.verdict = undefined;
  };

  return {
    forget,
    /** Whether the slot may show the banner; `undefined` while the host has not answered. */
    ask(mounted: MountedSlot, banner: Banner): boolean | undefined {
      if (mounted.verdict?.bannerId === banner.id) return mounted.verdict.may;
      forget(mounted);
      const verdict: Verdict = { bannerId: banner.id, may: undefined };
      mounted.verdict = verdict;
      const { element, placementId } = mounted;
      const settle = (answer: unknown): void => {
        verdict.cancelSlow?.();
        verdict.may = answer !== false;
      };
      // A host that has a say has a reason, such as an open consent dialog: where it fails, nothing is shown against its will.
      const failed = (cause: unknown): void => {
        settle(false);
        fail('hook', `mayShow() of "${placementId}" threw`, cause);
      };
      try {
        const answer = settings.mayShow!(banner, { element, placementId });
        // Recognised by its `then`: it may be another library's promise, as with zone.js.
        if ((answer as Partial<Promise<boolean>> | undefined)?.then) {
          const slow = (): void => fail('hook', `mayShow() of "${placementId}" has not answered`);
          verdict.cancelSlow = settings.platform.after(SLOW_MS, slow);
          void Promise.resolve(answer)
            .then(settle, failed)
            .then(() => placements.considerAll());
        } else settle(answer);
      } catch (cause) {
        failed(cause);
      }
      return verdict.may;
    },
    /** Asks again where a banner is kept away, or the host has not answered. */
    reconsider(): void {
      for (const mounted of placements.slots()) if (!mounted.verdict?.may) forget(mounted);
      placements.considerAll();
    },
  };
};

export type MayShow = ReturnType<typeof createMayShow>;
