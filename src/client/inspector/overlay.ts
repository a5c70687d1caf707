import type { Banner } from '../banner.ts';
import type { CapturedEvent } from '../delivery/delivery.ts';
import type { LateContext } from '../late-context.ts';

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

/**
 * Puts banners in front of the user's own that a person only looks at, and takes their events: none is stored or sent. The
 * preview and the inspector know of this, and no other part of the client.
 */
export const createOverlay = ({ cache, placements }: Pick<LateContext, 'cache' | 'placements'>) => {
  const { lookedAt } = cache;
  let isSandbox = false;
  let onTaken: (event: CapturedEvent) => void = () => undefined;

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };

  const overlay = {
    /** Draws the banner in the slots of the placement at once, dismissed, expired or not; `null` ends that. */
    focus(placementId: string, banner: Banner | null): void {
      if (banner) lookedAt.set(placementId, focusOn(banner));
      else if (overlay.isFocused(placementId)) lookedAt.delete(placementId);
      redraw();
    },
    isFocused: (placementId: string): boolean => !!lookedAt.get(placementId),
    /** While it is on, all events are taken, and what is dismissed is hidden. */
    sandbox(isOn: boolean): void {
      isSandbox = isOn;
      if (isOn) return;
      for (const [placementId, banner] of lookedAt) if (banner === null) lookedAt.delete(placementId);
      redraw();
    },
    /** Calls `listener` with each event that is taken. */
    onTaken(listener: typeof onTaken): void {
      onTaken = listener;
    },
  };

  cache.takeEvents((event) => {
    const { type, bannerId, placementId } = event;
    const isOfFocus = isFocus(bannerId);
    if (!isSandbox && !isOfFocus) return false;
    onTaken(event);
    if (type === 'dismiss' && isOfFocus) overlay.focus(placementId, null);
    else if (type === 'dismiss') lookedAt.set(placementId, null);
    return true;
  });
  return overlay;
};

export type Overlay = ReturnType<typeof createOverlay>;
