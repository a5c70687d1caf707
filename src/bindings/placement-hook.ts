import type { Banner, PlacementHook, Slot } from '../client/index.ts';

/** Returns a stable hook that calls the latest one, so that an inline function does not remount on each render. */
export const followHook = (latest: () => PlacementHook): PlacementHook => {
  /** Hook with an asynchronous check. It also renders its banners, because a later hook could not check them synchronously. */
  let slow: PlacementHook | undefined;
  const follow: PlacementHook = (banner, slot) => (slow ?? latest())(banner, slot);
  const { validate, renderEmpty, renderInvalid } = latest();
  // Copies only the methods that exist, because a placement with `renderEmpty` does not collapse.
  if (validate) {
    follow.validate = (banner) => {
      const hook = latest();
      const problems = hook.validate?.(banner) ?? [];
      slow = typeof (problems as Partial<PromiseLike<unknown>>).then === 'function' ? hook : undefined;
      return problems;
    };
  }
  if (renderEmpty) follow.renderEmpty = (slot) => latest().renderEmpty?.(slot);
  if (renderInvalid) follow.renderInvalid = (problems, slot) => latest().renderInvalid?.(problems, slot);
  return follow;
};

/** Banner rendered by the client. Each rendering creates a new object. */
export interface DrawnBanner {
  banner: Banner;
  slot: Slot;
  /** Reports that the framework failed to render the banner. The slot stays empty, and the client emits a notice. */
  onError: (cause: unknown) => void;
}

/** Returns a hook for a framework that renders by itself. `set` receives the banner to render, or `null` to remove the banner. */
export const renderedHook =
  (set: (drawn: DrawnBanner | null) => void): PlacementHook =>
  (banner, slot) => {
    let onError: (cause: unknown) => void = () => undefined;
    const failure = new Promise<never>((_, reject) => {
      onError = reject;
    });
    failure.catch(() => undefined);
    set({ banner, slot, onError });
    // Frameworks may render after the hook returns. The cleanup is therefore also a promise, so that the client handles a failure
    // like a rejection of an async hook.
    // biome-ignore lint/suspicious/noThenProperty: being a promise is the purpose
    return Object.assign(() => set(null), { then: failure.then.bind(failure) });
  };
