import type { Banner, BannerEvent } from '../banner.ts';
import type { Updates } from '../banners/updates.ts';
import type { LateContext } from '../late-context.ts';
import type { Notice } from '../notices.ts';
import type { Problem } from '../placement-hook.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { MountedSlot } from '../placements/slot.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import { createPreview } from './show-preview.ts';

/** How far a slot's banner is from its impression. */
export interface ViewState {
  /** Milliseconds that the rule has been met without a break, of `requiredMs`. */
  dwellMs: number;
  requiredMs: number;
  /** Share of its pixels that must be in view, 0 to 1. */
  requiredShare: number;
  /** Something lies on top of most of it. */
  isCovered: boolean;
  /** Nothing in the slot is displayed, or all of it is fully transparent. */
  isInvisible: boolean;
  /** The slot has `aria-busy="true"`: its content is still loading. */
  isBusy: boolean;
  /** The rule was met: the impression of this banner in this slot is taken. */
  isSeen: boolean;
}

/** One element that shows a placement. */
export interface SlotState {
  element: HTMLElement;
  /** The banner in the slot; a control banner is here too, though nothing is drawn. */
  shown: Banner | null;
  /** Why nothing is drawn; `null` where something is, or nothing was decided yet. */
  emptied: Extract<Notice, { type: 'emptied' }>['reason'] | null;
  /** Why the banner does not fit the slot's hook. */
  problems: readonly Problem[];
  /** `null` where the browser cannot tell what is in view. */
  view: ViewState | null;
}

/** One placement that the page mounts or that the cache holds. */
export interface PlacementState {
  placementId: string;
  /** The service's last answer, expired or not: `null` for no banner, `undefined` for no answer yet. */
  answer: Banner | null | undefined;
  /** When that answer was requested, in Unix milliseconds; `null` where there is none, or a test send. */
  askedAt: number | null;
  /** Whether this page requested the answer itself. */
  from: 'cache' | 'sync';
  /** By the service's clock. */
  isExpired: boolean;
  /** The user sent a banner of this placement away. */
  isDismissed: boolean;
  /** When a snooze of the answer ends, in Unix milliseconds of the service; `null` without one. */
  snoozedUntil: number | null;
  isFocused: boolean;
  /** What the sandbox took a dismissal of is hidden until the sandbox ends. */
  isHidden: boolean;
  slots: SlotState[];
}

/** What the client knows at one moment. */
export interface Inspection {
  endpoint: string;
  appId: string;
  appVersion: string;
  userId: string | null;
  /** False without consent, and after `stop()`. */
  isActive: boolean;
  /** `null` before the first session of this user. */
  session: { id: string; endsAt: number; refreshesLeft: number } | null;
  /** Server time minus device time, in milliseconds. */
  clockSkewMs: number;
  /** Unix milliseconds before which no sync is sent, or `null`. */
  syncWaitsUntil: number | null;
  sandbox: { isOn: boolean; events: BannerEvent[] };
  /** The newest notices of sync and delivery, and failures, since the late chunk was loaded, oldest first: at most 50. */
  recent: { at: number; notice: Notice }[];
  placements: PlacementState[];
}

/** What `inspect()` gives: the client's state, and three verbs for the developer of the page. */
export interface Inspector {
  /** Reads memory only, so it may be called often. */
  read(): Inspection;
  /**
   * Draws the banner in the slots of the placement at once, dismissed, expired or not, until the focus is `null` or the user
   * changes. Its events are listed with those of the sandbox; none is stored or sent.
   */
  focus(placementId: string, banner: Banner | null): void;
  /**
   * While it is on, in this page: events are listed in `read().sandbox`, none is stored or sent, and a dismissal lasts until
   * the sandbox ends. What was captured before is sent as ever.
   */
  sandbox(isOn: boolean): void;
  /**
   * Shows the draft that a preview link of the Studio is for, by the link's token, until the person ends it. A page that is
   * opened by such a link does so by itself.
   */
  preview(token: string): Promise<void>;
}

interface ReadPlacementsOptions extends Pick<LateContext, 'cache' | 'requested' | 'placements'> {
  overlay: Overlay;
  impressions: Pick<Impressions, 'inspect'>;
}

/** Every placement that the page mounts or requests, or that the cache holds, by name. */
const readPlacements = (options: ReadPlacementsOptions): PlacementState[] => {
  const { cache, overlay, impressions, requested, placements } = options;
  const { banners, dismissed, snoozed } = cache.record();
  const mounted = placements.slots();
  const names = new Set([
    ...requested.placements,
    ...banners.keys(),
    ...cache.lookedAt.keys(),
    ...cache.testSends.keys(),
  ]);
  for (const { placementId } of mounted) names.add(placementId);

  const slotOf = (slot: MountedSlot): SlotState => {
    const { element, placementId, state } = slot;
    const { banner: shown, why: emptied } = state;
    const next = cache.current(placementId);
    // Of the very banner that was refused the check has its answer at hand.
    const problems = emptied === 'invalid' && next ? (slot.check.problems(next) ?? []) : [];
    return { element, shown, emptied, problems, view: impressions.inspect(slot) };
  };

  const stateOf = (placementId: string): PlacementState => {
    const testSend = cache.testSends.get(placementId);
    const stored = banners.get(placementId);
    const answer = testSend ?? stored?.banner;
    return {
      placementId,
      answer,
      askedAt: testSend ? null : (stored?.askedAtMs ?? null),
      from: requested.answered.has(placementId) ? 'sync' : 'cache',
      isExpired: answer != null && cache.isExpired(answer),
      isDismissed: dismissed.some((dismissal) => dismissal.placementId === placementId),
      snoozedUntil: answer && cache.isSnoozed(answer) ? snoozed!.get(answer.id)! : null,
      isFocused: overlay.isFocused(placementId),
      isHidden: cache.lookedAt.get(placementId) === null,
      slots: mounted.filter((slot) => slot.placementId === placementId).map(slotOf),
    };
  };
  return [...names].sort().map(stateOf);
};

interface InspectorOptions extends LateContext {
  impressions: Impressions;
  updates: Pick<Updates, 'session' | 'syncBlockedUntilMs'>;
  /** The notices of before, and those that come. */
  recent: Inspection['recent'];
  askForPreview: (token: string) => ReturnType<LateContext['post']>;
}

/** Says what the client knows, and shows what a person only looks at. A chunk of its own: only a page that inspects loads it. */
export const createInspector = (context: InspectorOptions): Inspector & { stop(): void } => {
  const { settings, user, cache, isActive, updates, recent } = context;
  const overlay = createOverlay(context, context.impressions);
  const options = { ...context, overlay };
  const preview = createPreview(options);
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
        sandbox: overlay.state(),
        recent: [...recent],
        placements: readPlacements(options),
      };
    },
    focus(placementId, banner) {
      if (user.id() !== null) overlay.focus(placementId, banner && { ...banner, placementId });
    },
    sandbox: overlay.sandbox,
    preview: preview.show,
    stop: preview.stop,
  };
};
