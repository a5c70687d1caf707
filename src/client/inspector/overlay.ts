import type { Banner, BannerEvent } from '../banner.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';
import type { Impressions } from '../placements/impressions.ts';

/** A focused banner is a copy with an ID of its own: no event of it is ever stored, whatever happens to the original. */
const FOCUS = 'focus:';
const focusOn = (banner: Banner): Banner => ({
  ...banner,
  id: FOCUS + banner.id,
  isControl: false,
  isTestSend: true,
  expiresAt: null,
});
const isFocus = (bannerId: string): boolean => bannerId.startsWith(FOCUS);

/** Of the events that were taken, so many are listed. */
const MAX_EVENTS = 100;

/**
 * Puts banners in front of the user's own that a person only looks at, and takes their events: these are listed, and none is stored or
 * sent. The preview and the inspector know of this, and no other part of the client.
 */
export const createOverlay = (
  { cache, placements, settings }: Pick<LateContext, 'cache' | 'placements' | 'settings'>,
  impressions: Pick<Impressions, 'countAnew'>,
) => {
  const { lookedAt } = cache;
  let isOn = false;
  let events: BannerEvent[] = [];
  /** Impressions that are listed: each counts once, as it does for the service. */
  const listed = new Set<string>();

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };

  const list = (event: CapturedEvent): void => {
    const { type, bannerId, placementId, userId, once, at = settings.platform.now() } = event;
    if (once !== undefined && listed.has(once)) return;
    if (once !== undefined) listed.add(once);
    events = [...events, { type, bannerId, placementId, userId, time: at }].slice(-MAX_EVENTS);
  };

  const overlay = {
    /** Draws the banner in the slots of the placement at once, dismissed, expired or not; `null` ends that. */
    focus(placementId: string, banner: Banner | null): void {
      if (banner) lookedAt.set(placementId, focusOn(banner));
      else if (overlay.isFocused(placementId)) lookedAt.delete(placementId);
      redraw();
    },
    isFocused: (placementId: string): boolean => !!lookedAt.get(placementId),
    /** While the sandbox is on, all events are taken, and what is dismissed is hidden. */
    sandbox(next: boolean): void {
      if (next === isOn) return;
      isOn = next;
      events = [];
      listed.clear();
      if (isOn) return;
      for (const [placementId, banner] of lookedAt) if (banner === null) lookedAt.delete(placementId);
      redraw();
      // What was seen counts again, after another second.
      impressions.countAnew();
    },
    /** The sandbox, and the events that were taken since it was last turned. */
    state: () => ({ isOn, events: [...events] }),
  };

  cache.interceptEvents((event) => {
    const { type, bannerId, placementId } = event;
    const isOfFocus = isFocus(bannerId);
    if (!isOn && !isOfFocus) return false;
    list(event);
    if (type === 'dismiss' && isOfFocus) overlay.focus(placementId, null);
    else if (type === 'dismiss') lookedAt.set(placementId, null);
    return true;
  });
  return overlay;
};

export type Overlay = ReturnType<typeof createOverlay>;
