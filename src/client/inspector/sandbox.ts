import type { BannerEvent } from '../banner.ts';
import type { FocusVerbs } from '../banners/overlay.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';
import type { Inspector } from './inspector.ts';

/** Of the events that were taken and not sent, so many are listed. */
const MAX_EVENTS = 100;

interface SandboxOptions extends FocusVerbs, Pick<LateContext, 'settings' | 'cache' | 'placements'> {
  /** What was seen counts again, after another second. */
  countAnew: () => void;
}

/** Focus and sandbox: what is shown and done here leaves no trace, neither in a store nor with the service. */
export const createSandbox = (options: SandboxOptions) => {
  const { settings, cache, placements, countAnew, focusOn, isFocus } = options;
  const { overlay } = cache;
  let isOn = false;
  let events: BannerEvent[] = [];
  /** Impressions that were listed: each counts once, as it does for the service. */
  const listed = new Set<string>();

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };

  const focus: Inspector['focus'] = (placementId, banner) => {
    if (cache.userId() === null) return;
    if (banner) overlay.set(placementId, focusOn({ ...banner, placementId }));
    else overlay.delete(placementId);
    redraw();
  };

  return {
    focus,
    isOn: () => isOn,
    state: () => ({ isOn, events: [...events] }),

    turn(next: boolean): void {
      if (next === isOn) return;
      isOn = next;
      events = [];
      listed.clear();
      if (isOn) return;
      for (const [placementId, front] of overlay) if (front === null) overlay.delete(placementId);
      redraw();
      countAnew();
    },

    /** Lists the event, which goes nowhere else. */
    take({ type, bannerId, placementId, userId, once, at = settings.platform.now() }: CapturedEvent): void {
      if (once !== undefined && listed.has(once)) return;
      if (once !== undefined) listed.add(once);
      events = [...events, { type, bannerId, placementId, userId, time: at }].slice(-MAX_EVENTS);
      if (type !== 'dismiss') return;
      if (isFocus(bannerId)) focus(placementId, null);
      else overlay.set(placementId, null);
    },
  };
};

export type Sandbox = ReturnType<typeof createSandbox>;
