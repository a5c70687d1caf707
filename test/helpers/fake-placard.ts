import type {
  Banner,
  Listener,
  Notice,
  Placard,
  PlacementCleanup,
  PlacementHook,
} from '../../src/client/index.ts';
import { INERT_METHODS } from '../../src/protocol/index.ts';
import { buildBanner } from './a-banner.ts';

/** A client without network: the test sets banners; mounts and calls are recorded. */
export const fakePlacard = () => {
  const banners = new Map<string, Banner | null>();
  const listeners = new Set<Listener>();
  const calls: string[] = [];
  const mounts = new Set<{ placementId: string; element: HTMLElement; draw(): void; clear(): void }>();
  const notify = (notice: Notice) => {
    for (const listener of listeners) listener(notice);
  };

  const mount = (placementId: string, element: HTMLElement, hook: PlacementHook) => {
    calls.push(`mount ${placementId}`);
    let cleanup: PlacementCleanup;
    let leaving: AbortController | undefined;
    const place = {
      placementId,
      element,
      clear() {
        leaving?.abort();
        if (cleanup) cleanup();
        cleanup = undefined;
      },
      draw() {
        place.clear();
        leaving = new AbortController();
        const banner = banners.get(placementId);
        if (!banner) return;
        cleanup = hook(banner, {
          ...INERT_METHODS,
          element,
          placementId,
          signal: leaving.signal,
          click: async () => void calls.push(`click ${banner.id}`),
          dismiss: async () => void calls.push(`dismiss ${banner.id}`),
          snooze: async (hours) => void calls.push(`snooze ${banner.id} ${hours}`),
          now: Date.now,
          safeUrl: (url) => (typeof url === 'string' ? url : null),
          report: (kind) => void calls.push(`report ${kind}`),
        });
      },
    };
    mounts.add(place);
    place.draw();
    return () => {
      calls.push(`unmount ${placementId}`);
      mounts.delete(place);
      place.clear();
    };
  };

  const said =
    <Result>(verb: string, result: Result) =>
    async (...values: unknown[]) => {
      calls.push([verb, ...values.map((value) => JSON.stringify(value))].join(' '));
      return result;
    };
  const placard: Pick<Placard, 'mount' | 'banner' | 'subscribe' | 'identify' | 'refresh' | 'flush'> = {
    mount,
    banner: (placementId) => banners.get(placementId),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    identify: said('identify', undefined),
    refresh: said('refresh', undefined),
    flush: said('flush', { delivered: 0, pending: 0 }),
  };

  return {
    placard: placard as Placard,
    calls,
    listeners,
    notify,
    mounts: () => [...mounts],
    /** Expires the banner without a notification. */
    forget: (placementId: string) => banners.set(placementId, null),
    /** Replaces a placement's banner as a sync does. */
    set(placementId: string, headline: string | null, changes: Partial<Banner> = {}) {
      const banner =
        headline === null
          ? null
          : buildBanner({
              id: `bnr-${headline}`,
              placementId,
              properties: { headline: { type: 'string', value: headline } },
              ...changes,
            });
      banners.set(placementId, banner);
      for (const place of mounts) if (place.placementId === placementId) place.draw();
      notify({ type: 'synced', placements: [placementId], banners: { [placementId]: banner } });
    },
  };
};
export type FakePlacard = ReturnType<typeof fakePlacard>;
