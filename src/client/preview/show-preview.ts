import type { PreviewAnswer } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { FocusVerbs } from '../banners/overlay.ts';
import type { LateContext } from '../late/late-context.ts';
import { showPreviewBar } from './preview-bar.ts';

/** Given and not imported: a module that two late chunks share breaks on pages that extend `Object.prototype`. */
interface ShowPreviewOptions
  extends FocusVerbs,
    Pick<LateContext, 'cache' | 'placements' | 'requested' | 'subscribe'> {
  /** The service's answer to the token, or its words for why there is none. */
  answer: PreviewAnswer | string;
  readBanners: (placements: string[], sent: Record<string, unknown>) => Map<string, Banner | null>;
}

/** Draws the banners of a preview link through the host's own hooks, in memory only, under a bar that says so and ends it. */
export const showPreview = (options: ShowPreviewOptions): (() => void) => {
  const { answer, cache, placements, requested, subscribe, focusOn, isFocus } = options;
  const shown = typeof answer === 'string' ? [] : Object.entries(answer.banners);
  const banners = [
    ...options.readBanners(
      shown.map(([id]) => id),
      Object.fromEntries(shown),
    ),
  ];

  const redraw = (): void => {
    cache.show();
    placements.considerAll(true);
  };
  const put = (): void => {
    for (const [placementId, banner] of banners) if (banner) cache.overlay.set(placementId, focusOn(banner));
    redraw();
  };
  // What stands in front goes with each user.
  let userId = cache.userId();
  const unsubscribe = subscribe(() => {
    if (cache.userId() === userId) return;
    userId = cache.userId();
    put();
  });

  const end = (): void => {
    unsubscribe();
    hideBar();
    for (const [placementId] of banners) {
      const front = cache.overlay.get(placementId);
      if (front && isFocus(front.id)) cache.overlay.delete(placementId);
    }
    redraw();
  };
  const names = banners.map(([placementId]) => placementId);
  const isHere = names.some((placementId) => requested.placements.has(placementId));
  const where = isHere
    ? 'It is not stored, and nothing of it is counted.'
    : 'This page has no such placement.';
  const hideBar = showPreviewBar(
    typeof answer === 'string'
      ? `No preview: ${answer}`
      : `Preview of “${answer.campaign_name}” in ${names.join(', ')}. ${where}`,
    end,
  );
  put();
  return end;
};
