import type { Banner, PlacementHook, Slot } from '../client/index.ts';

/** A hook that always follows the latest one, so that an inline function does not mount anew on each render. */
export const followHook = (latest: () => PlacementHook): PlacementHook => {
  /** Whose check took its time: that hook draws, since a later one could not say at once what fits. */
  let slow: PlacementHook | undefined;
  const follow: PlacementHook = (banner, slot) => (slow ?? latest())(banner, slot);
  const { check, empty, invalid } = latest();
  // Only the parts that exist: a placement that draws something when it is empty is not collapsed.
  if (check) {
    follow.check = (banner) => {
      const hook = latest();
      const problems = hook.check?.(banner) ?? [];
      slow = typeof (problems as Partial<PromiseLike<unknown>>).then === 'function' ? hook : undefined;
      return problems;
    };
  }
  if (empty) follow.empty = (slot) => latest().empty?.(slot);
  if (invalid) follow.invalid = (problems, slot) => latest().invalid?.(problems, slot);
  return follow;
};

/** What the client has drawn, one object each time. */
export interface DrawnBanner {
  banner: Banner;
  slot: Slot;
  /** The framework could not render it: the slot is left empty, and the client says so. */
  onError: (cause: unknown) => void;
}

/** A hook for a framework that renders by itself: `set` gets the banner to render, `null` when it leaves. */
export const renderedHook =
  (set: (drawn: DrawnBanner | null) => void): PlacementHook =>
  (banner, slot) => {
    let onError: (cause: unknown) => void = () => undefined;
    const failure = new Promise<never>((_, reject) => {
      onError = reject;
    });
    failure.catch(() => undefined);
    set({ banner, slot, onError });
    // A framework renders when the hook is over, or at once. So the cleanup is a promise as well: the client takes a
    // failure like that of an async hook that rejects.
    // biome-ignore lint/suspicious/noThenProperty: being a promise is the purpose
    return Object.assign(() => set(null), { then: failure.then.bind(failure) });
  };
