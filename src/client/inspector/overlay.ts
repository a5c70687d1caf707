import type { Banner, BannerEvent } from '../banner.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { Impressions } from '../placements/impressions.ts';

/** ID prefix of a focused banner. It is a copy with its own ID, so that none of its events is ever stored. */
const FOCUS = 'focus:';
const focusOn = (banner: Banner): Banner => ({
  ...banner,
  id: FOCUS + banner.id,
  isControl: false,
  isTestSend: true,
  expiresAt: null,
});
const isFocus = (bannerId: string): boolean => bannerId.startsWith(FOCUS);

/** Maximum number of listed events. */
const MAX_EVENTS = 100;

/**
 * Shows preview banners instead of the user's own, and intercepts their events, which are listed but not stored or sent. Only
 * the preview and the inspector use it.
 */
export const createOverlay = (
  { cache, placements, settings }: Pick<DeferredContext, 'cache' | 'placements' | 'settings'>,
  impressions: Pick<Impressions, 'reset'>,
) => {
  const { previews } = cache;
  let isOn = false;
  let events: BannerEvent[] = [];
  /** Listed impressions. Each counts once, as in the service. */
  const listed = new Set<string>();

  const redraw = (): void => {
    cache.update();
    placements.updateAll(true);
  };

  const list = (event: CapturedEvent): void => {
    const { type, bannerId, placementId, userId, dedupName, at = settings.platform.now() } = event;
    if (dedupName !== undefined && listed.has(dedupName)) return;
    if (dedupName !== undefined) listed.add(dedupName);
    events = [...events, { type, bannerId, placementId, userId, time: at }].slice(-MAX_EVENTS);
  };

  const overlay = {
    /**
     * Renders the banner in the slots of the placement at once, even if dismissed or expired; `null` restores the user's banner.
     */
    focus(placementId: string, banner: Banner | null): void {
      if (banner) previews.set(placementId, focusOn(banner));
      else if (overlay.isFocused(placementId)) previews.delete(placementId);
      redraw();
    },
    isFocused: (placementId: string): boolean => !!previews.get(placementId),
    /** Turns the sandbox on or off. While it is on, all events are intercepted, and dismissed banners are hidden. */
    sandbox(next: boolean): void {
      if (next === isOn) return;
      isOn = next;
      events = [];
      listed.clear();
      if (isOn) return;
      for (const [placementId, banner] of previews) if (banner === null) previews.delete(placementId);
      redraw();
      // Impressions count again, after another second in view.
      impressions.reset();
    },
    /** Returns the state of the sandbox, and the events intercepted since it last changed. */
    state: () => ({ isOn, events: [...events] }),
  };

  cache.interceptEvents((event) => {
    const { type, bannerId, placementId } = event;
    const isOfFocus = isFocus(bannerId);
    if (!isOn && !isOfFocus) return false;
    list(event);
    if (type === 'dismiss' && isOfFocus) overlay.focus(placementId, null);
    else if (type === 'dismiss') previews.set(placementId, null);
    return true;
  });
  return overlay;
};

export type Overlay = ReturnType<typeof createOverlay>;
