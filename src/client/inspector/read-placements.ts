import type { FocusVerbs } from '../banners/overlay.ts';
import type { LateContext } from '../late/late-context.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { Mounted } from '../placements/mounted-slot.ts';
import type { PlacementState, SlotState } from './inspection.ts';

export interface ReadPlacementsOptions
  extends Pick<FocusVerbs, 'isFocus'>,
    Pick<LateContext, 'cache' | 'requested'> {
  impressions: Pick<Impressions, 'slots' | 'inspect'>;
}

/** Every placement that the page mounts or requests, or that the cache holds, by name. */
export const readPlacements = (options: ReadPlacementsOptions): PlacementState[] => {
  const { cache, impressions, requested, isFocus } = options;
  const { banners, dismissed } = cache.record();
  const mounted = impressions.slots();
  const names = new Set([...requested.placements, ...banners.keys(), ...cache.overlay.keys()]);
  for (const { placementId } of mounted) names.add(placementId);

  const slotOf = (slot: Mounted): SlotState => {
    const { element, shown, emptied = null, placementId } = slot;
    const next = cache.current(placementId);
    // Of the very banner that was refused the check has its answer at hand.
    const problems = emptied === 'invalid' && next ? (slot.check.problems(next) ?? []) : [];
    return { element, shown, emptied, problems, view: impressions.inspect(slot) };
  };

  const stateOf = (placementId: string): PlacementState => {
    const front = cache.overlay.get(placementId);
    const isFocused = front != null && isFocus(front.id);
    const stored = banners.get(placementId);
    const isTestSend = front != null && !isFocused;
    const answer = isTestSend ? front : stored?.banner;
    return {
      placementId,
      answer,
      askedAt: isTestSend ? null : (stored?.askedAtMs ?? null),
      from: requested.answered.has(placementId) ? 'sync' : 'cache',
      isExpired: answer != null && cache.isExpired(answer),
      isDismissed: dismissed.some((dismissal) => dismissal.placementId === placementId),
      isFocused,
      isHidden: front === null,
      slots: mounted.filter((slot) => slot.placementId === placementId).map(slotOf),
    };
  };
  return [...names].sort().map(stateOf);
};
