import type { Banner, BannerEvent } from '../banner.ts';
import type { SyncTrouble } from '../banners/sync-trouble.ts';
import type { DeferredContext } from '../deferred-context.ts';
import type { Notice } from '../notices.ts';
import type { Issue } from '../placement-hook.ts';
import type { Impressions } from '../placements/impressions.ts';
import type { MountedSlot } from '../placements/slot.ts';
import { createOverlay, type Overlay } from './overlay.ts';
import { createPreview } from './show-preview.ts';

/** Viewability state of a slot's banner. */
export interface ViewState {
  /** Time for which the rule has been met without interruption, in milliseconds. */
  dwellMs: number;
  requiredMs: number;
  /** Share of pixels that must be in view, 0 to 1. */
  requiredShare: number;
  /** Whether most of the slot is covered by other elements. */
  isCovered: boolean;
  /** Whether the slot has no displayed content, or is fully transparent. */
  isInvisible: boolean;
  /** Whether the slot has `aria-busy="true"`, because its content is still loading. */
  isBusy: boolean;
  /** Whether the rule was met, and the impression of this banner in this slot is recorded. */
  isSeen: boolean;
}

/** State of a mounted slot. */
export interface SlotState {
  element: HTMLElement;
  /** Banner in the slot, including a control banner, which is not rendered. */
  shown: Banner | null;
  /** Reason that no banner is rendered; `null` if one is rendered, or if undecided. */
  emptyReason: Extract<Notice, { type: 'hidden' }>['reason'] | null;
  /** Issues of a banner that the hook's `validate` rejected. */
  issues: readonly Issue[];
  /** `null` if the browser cannot measure visibility. */
  view: ViewState | null;
}

/** Placement that the page mounts or that the cache contains. */
export interface PlacementState {
  placementId: string;
  /** Last result of the service, expired or not; `null` if no banner; `undefined` before the first response. */
  banner: Banner | null | undefined;
  /** Request time of `banner`, in Unix milliseconds; `null` if none or a test send. */
  fetchedAt: number | null;
  /** `sync` if this page requested `banner`, otherwise `cache`. */
  from: 'cache' | 'sync';
  /** Whether `banner` has expired by the service's clock. */
  isExpired: boolean;
  /** Whether the user dismissed a banner of this placement. */
  isDismissed: boolean;
  /** End of the snooze of `banner`, in Unix milliseconds of the service; `null` if not snoozed. */
  snoozedUntil: number | null;
  /** Whether `focus()` shows a banner in this placement. */
  isFocused: boolean;
  /** Whether the banner was dismissed in the sandbox, and is hidden until the sandbox ends. */
  isHidden: boolean;
  slots: SlotState[];
}

/** Snapshot of the client's state. */
export interface Inspection {
  endpoint: string;
  appId: string;
  appVersion: string;
  userId: string | null;
  /** `false` without consent, and after `stop()`. */
  isActive: boolean;
  /** Current session with its end in Unix milliseconds; `null` before the first session of this user. */
  session: { id: string; endsAt: number; refreshesLeft: number } | null;
  /** Server time minus device time, in milliseconds. */
  clockSkewMs: number;
  /** End of the sync pause, in Unix milliseconds; `null` if syncs are not paused. */
  syncWaitsUntil: number | null;
  /** State of the sandbox, and the events that it or `focus()` intercepted. */
  sandbox: { isOn: boolean; events: BannerEvent[] };
  /**
   * Last 50 notices of sync, delivery and failures since the deferred chunk was loaded, oldest first. `at` is in Unix
   * milliseconds.
   */
  recent: { at: number; notice: Notice }[];
  /** Placements that the page mounts or requests, or that the cache contains, sorted by ID. */
  placements: PlacementState[];
}

/** Result of `inspect()`: the client's state, with methods for developers of the page. */
export interface Inspector {
  /** Returns the current state. Reads only memory, so it is cheap to poll. */
  read(): Inspection;
  /**
   * Renders the banner in the slots of the placement at once, even if dismissed or expired, until `banner` is `null` or the
   * user changes. Its events are listed in `read().sandbox`; none is stored or sent.
   */
  focus(placementId: string, banner: Banner | null): void;
  /**
   * Turns the sandbox of this page on or off. While it is on, events are listed in `read().sandbox`, and not stored or sent; a
   * dismissal lasts until the sandbox ends. Events captured before are sent as usual.
   */
  setSandbox(enabled: boolean): void;
  /**
   * Shows the draft of a Studio preview link, by the link's token, until the viewer ends the preview. A page that is opened by a
   * preview link shows its draft automatically.
   */
  preview(token: string): Promise<void>;
}

interface ReadPlacementsOptions extends Pick<DeferredContext, 'cache' | 'requested' | 'placements'> {
  overlay: Overlay;
  impressions: Pick<Impressions, 'inspect'>;
}

/** Returns every placement that the page mounts or requests, or that the cache contains, sorted by name. */
const readPlacements = (options: ReadPlacementsOptions): PlacementState[] => {
  const { cache, overlay, impressions, requested, placements } = options;
  const { banners, dismissed, snoozed } = cache.record();
  const mounted = placements.slots();
  const names = new Set([
    ...requested.placements,
    ...banners.keys(),
    ...cache.previews.keys(),
    ...cache.testSends.keys(),
  ]);
  for (const { placementId } of mounted) names.add(placementId);

  const toSlotState = (slot: MountedSlot): SlotState => {
    const { element, placementId, state } = slot;
    const { banner: shown, reason: emptyReason } = state;
    const next = cache.current(placementId);
    // The check has cached the problems of the rejected banner.
    const issues = emptyReason === 'invalid' && next ? (slot.validation.problems(next) ?? []) : [];
    return { element, shown, emptyReason, issues, view: impressions.inspect(slot) };
  };

  const toPlacementState = (placementId: string): PlacementState => {
    const testSend = cache.testSends.get(placementId);
    const stored = banners.get(placementId);
    const banner = testSend ?? stored?.banner;
    return {
      placementId,
      banner,
      fetchedAt: testSend ? null : (stored?.fetchedAtMs ?? null),
      from: requested.synced.has(placementId) ? 'sync' : 'cache',
      isExpired: banner != null && cache.isExpired(banner),
      isDismissed: dismissed.some((dismissal) => dismissal.placementId === placementId),
      snoozedUntil: banner && cache.isSnoozed(banner) ? snoozed!.get(banner.id)! : null,
      isFocused: overlay.isFocused(placementId),
      isHidden: cache.previews.get(placementId) === null,
      slots: mounted.filter((slot) => slot.placementId === placementId).map(toSlotState),
    };
  };
  return [...names].sort().map(toPlacementState);
};

interface InspectorOptions extends DeferredContext {
  impressions: Impressions;
  sync: Pick<SyncTrouble, 'session' | 'blockedUntilMs'>;
  /** Earlier notices, to which new ones are added. */
  recent: Inspection['recent'];
  requestPreview: (token: string) => ReturnType<DeferredContext['post']>;
}

/** Creates the inspector. It is a separate chunk that loads only on pages that inspect. */
export const createInspector = (context: InspectorOptions): { inspector: Inspector; stop: () => void } => {
  const { settings, permission, cache, sync, recent } = context;
  const overlay = createOverlay(context, context.impressions);
  const options = { ...context, overlay };
  const preview = createPreview(options);
  const { endpoint, appId, appVersion, platform } = settings;
  const inspector: Inspector = {
    read() {
      const waitsUntil = sync.blockedUntilMs();
      return {
        endpoint,
        appId,
        appVersion,
        userId: permission.userId(),
        isActive: permission.isActive(),
        session: sync.session(),
        clockSkewMs: cache.record().clockSkewMs,
        syncWaitsUntil: waitsUntil > platform.now() ? waitsUntil : null,
        sandbox: overlay.state(),
        recent: [...recent],
        placements: readPlacements(options),
      };
    },
    focus(placementId, banner) {
      if (permission.userId() !== null) overlay.focus(placementId, banner && { ...banner, placementId });
    },
    setSandbox: overlay.sandbox,
    preview: preview.show,
  };
  return { inspector, stop: preview.stop };
};
