import type { FocusVerbs } from '../banners/overlay.ts';
import type { Updates } from '../banners/updates.ts';
import type { LateContext } from '../late-context.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { Mounted } from '../placements/mounted-slot.ts';
import type { Inspection, Inspector, PlacementState, SlotState } from './inspector.ts';
import type { Sandbox } from './sandbox.ts';

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

export type { Inspection, Inspector, PlacementState, SlotState, ViewState } from './inspector.ts';
export { createSandbox, type Sandbox } from './sandbox.ts';

interface InspectorOptions extends ReadPlacementsOptions, Pick<LateContext, 'settings' | 'isActive'> {
  sandbox: Sandbox;
  updates: Pick<Updates, 'session' | 'syncBlockedUntilMs'>;
  recent: () => Inspection['recent'];
  preview: Inspector['preview'];
}

/** Says what the client knows. A chunk of its own: only a page that inspects loads it. */
export const createInspector = (options: InspectorOptions): Inspector => {
  const { settings, cache, sandbox, isActive, updates, recent } = options;
  const { endpoint, appId, appVersion, platform } = settings;
  return {
    read() {
      const waitsUntil = updates.syncBlockedUntilMs();
      return {
        endpoint,
        appId,
        appVersion,
        userId: cache.userId(),
        isActive: isActive(),
        session: updates.session(),
        clockSkewMs: cache.record().clockSkewMs,
        syncWaitsUntil: waitsUntil > platform.now() ? waitsUntil : null,
        sandbox: sandbox.state(),
        recent: recent(),
        placements: readPlacements(options),
      };
    },
    focus: sandbox.focus,
    sandbox: sandbox.turn,
    preview: options.preview,
  };
};
