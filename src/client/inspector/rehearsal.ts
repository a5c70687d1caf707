import type { BannerEvent } from '../banner-event.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { FocusVerbs } from '../banners/overlay.ts';
import type { CapturedEvent } from '../delivery/index.ts';
import type { Placements } from '../placements/placements.ts';
import type { Inspector } from './inspection.ts';

/** Of the events that were taken and not sent, so many are listed. */
const MAX_EVENTS = 100;

interface RehearsalOptions extends FocusVerbs {
  cache: BannerCache;
  placements: Placements;
  now: () => number;
  /** What was seen counts again, after another second. */
  countAnew: () => void;
}

/** Focus and sandbox: what is shown and done here leaves no trace, neither in a store nor with the service. */
export const createRehearsal = (options: RehearsalOptions) => {
  const { cache, placements, now, countAnew, focusOn, isFocus } = options;
  const { overlay } = cache;
  let isOn = false;
  let events: BannerEvent[] = [];
  /** Impressions that were listed: each counts once, as it does for the service. */
  const listed = new Set<string>();

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };

  const covers = (bannerId: string): boolean => isOn || isFocus(bannerId);

  const focus: Inspector['focus'] = (placementId, banner) => {
    if (cache.userId() === null) return;
    if (banner) overlay.set(placementId, focusOn({ ...banner, placementId }));
    else overlay.delete(placementId);
    redraw();
  };

  return {
    focus,
    covers,
    state: () => ({ isOn, events: [...events] }),

    sandbox(next: boolean): void {
      if (next === isOn) return;
      isOn = next;
      events = [];
      listed.clear();
      if (isOn) return;
      for (const [placementId, front] of overlay) if (front === null) overlay.delete(placementId);
      redraw();
      countAnew();
    },

    /** True where the event is listed here, and is to go nowhere else. */
    takes({ type, bannerId, placementId, userId, once, at = now() }: CapturedEvent): boolean {
      if (!covers(bannerId)) return false;
      if (once !== undefined && listed.has(once)) return true;
      if (once !== undefined) listed.add(once);
      events = [...events, { type, bannerId, placementId, userId, time: at }].slice(-MAX_EVENTS);
      if (type !== 'dismiss') return true;
      if (isFocus(bannerId)) focus(placementId, null);
      else overlay.set(placementId, null);
      return true;
    },
  };
};

export type Rehearsal = ReturnType<typeof createRehearsal>;
