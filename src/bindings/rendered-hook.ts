import type { Banner, PlacementHook, Slot } from '../client/index.ts';

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
