import type { BannerEvent } from '../banner.ts';
import type { FocusVerbs } from '../banners/overlay.ts';
import type { Updates } from '../banners/updates.ts';
import type { LateContext } from '../late-context.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { Mounted } from '../placements/mounted-slot.ts';
import type { Inspection, Inspector, PlacementState, SlotState } from './inspector.ts';

/** Of the events that were taken and not sent, so many are listed. */
const MAX_EVENTS = 100;

interface SandboxOptions extends FocusVerbs, Pick<LateContext, 'settings' | 'user' | 'cache' | 'placements'> {
  impressions: Pick<Impressions, 'countAnew'>;
}

/** Focus and sandbox: what is shown and done here leaves no trace, neither in a store nor with the service. */
const createSandbox = (options: SandboxOptions) => {
  const { settings, user, cache, placements, impressions, focusOn, isFocus } = options;
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
    if (user.id() === null) return;
    if (banner) overlay.set(placementId, focusOn({ ...banner, placementId }));
    else overlay.delete(placementId);
    redraw();
  };

  /** Lists the event, which goes nowhere else. */
  cache.takeEvents(({ type, bannerId, placementId, userId, once, at = settings.platform.now() }) => {
    if (!isOn && !isFocus(bannerId)) return false;
    if (once !== undefined && listed.has(once)) return true;
    if (once !== undefined) listed.add(once);
    events = [...events, { type, bannerId, placementId, userId, time: at }].slice(-MAX_EVENTS);
    if (type !== 'dismiss') return true;
    if (isFocus(bannerId)) focus(placementId, null);
    else overlay.set(placementId, null);
    return true;
  });

  return {
    focus,
    state: () => ({ isOn, events: [...events] }),

    turn(next: boolean): void {
      if (next === isOn) return;
      isOn = next;
      events = [];
      listed.clear();
      if (isOn) return;
      for (const [placementId, front] of overlay) if (front === null) overlay.delete(placementId);
      redraw();
      // What was seen counts again, after another second.
      impressions.countAnew();
    },
  };
};

interface ReadPlacementsOptions
  extends Pick<FocusVerbs, 'isFocus'>,
    Pick<LateContext, 'cache' | 'requested'> {
  impressions: Pick<Impressions, 'slots' | 'inspect'>;
}

/** Every placement that the page mounts or requests, or that the cache holds, by name. */
const readPlacements = (options: ReadPlacementsOptions): PlacementState[] => {
  const { cache, impressions, requested, isFocus } = options;
  const { banners, dismissed, snoozed } = cache.record();
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
      snoozedUntil: answer && cache.isSnoozed(answer) ? snoozed!.get(answer.id)! : null,
      isFocused,
      isHidden: front === null,
      slots: mounted.filter((slot) => slot.placementId === placementId).map(slotOf),
    };
  };
  return [...names].sort().map(stateOf);
};

export type { Inspection, Inspector, PlacementState, SlotState, ViewState } from './inspector.ts';

interface InspectorOptions extends SandboxOptions, Pick<LateContext, 'isActive' | 'requested'> {
  impressions: Impressions;
  updates: Pick<Updates, 'session' | 'syncBlockedUntilMs'>;
  recent: () => Inspection['recent'];
  preview: Inspector['preview'];
}

/** Says what the client knows. A chunk of its own: only a page that inspects loads it. */
export const createInspector = (options: InspectorOptions): Inspector => {
  const { settings, user, cache, isActive, updates, recent } = options;
  const sandbox = createSandbox(options);
  const { endpoint, appId, appVersion, platform } = settings;
  return {
    read() {
      const waitsUntil = updates.syncBlockedUntilMs();
      return {
        endpoint,
        appId,
        appVersion,
        userId: user.id(),
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
