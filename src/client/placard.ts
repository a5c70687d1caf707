import type { Banner, BannerEvent, EventType, TrackOptions } from './banner.ts';
import type { DeadLetter, Diagnostics, FlushResult } from './delivery/delivery.ts';
import type { Inspector } from './inspector/inspector.ts';
import type { Listener } from './notices.ts';
import type { OptOutPolicy } from './permission.ts';
import type { PlacementHook } from './placement-hook.ts';

/** Client returned by `createPlacard`. No method throws; failures are `failed` notices. */
export interface Placard {
  /**
   * Shows the placement's banner in `element` and keeps it up to date. Returns a function that unmounts it. To count
   * impressions, the element needs a box (no `display: contents`), and no `aria-busy="true"`.
   */
  mount(placementId: string, element: HTMLElement, hook: PlacementHook): () => void;
  /**
   * Switches the user; `null` signs out. Clears the former user's cache and session. Queued events keep their user. No effect
   * after `stop()`.
   */
  identify(userId: string | null): Promise<void>;
  /**
   * Syncs these placements. Default: all mounted ones, and those named in earlier calls. Limited by the refresh budget (see
   * `BannerOptions`); if it is empty, emits a `failed` notice of kind `refresh-budget`.
   */
  refresh(placementIds?: string[]): Promise<void>;
  /** Calls `shouldShow` again for banners that are blocked or undecided. Makes no request. */
  reevaluate(): void;
  /** Returns the banner that the placement shows now; `null` if none; `undefined` before the first response. */
  banner(placementId: string): Banner | null | undefined;
  /**
   * Tracks an event of a banner. Resolves with the event once it is durable; `null` if it was not accepted (no consent, no
   * user, unknown banner, or counted before).
   */
  track(banner: Banner, type: EventType, options?: TrackOptions): Promise<BannerEvent | null>;
  /** Sends queued events now. Resolves with the number of delivered events and of those still queued. Never rejects. */
  flush(): Promise<FlushResult>;
  /** Calls `listener` on each notice. Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void;
  /** Returns the number of captured events by state. */
  diagnostics(): Promise<Diagnostics>;
  /** Returns the events that the service rejected, with its reasons. */
  deadLetters(): Promise<DeadLetter[]>;
  /** Moves dead letters back to the queue. `keys` are the `key`s of `deadLetters()`. Default: all. */
  retryDeadLetters(keys?: string[]): Promise<void>;
  /** Deletes dead letters. `keys` are the `key`s of `deadLetters()`. Default: all. */
  discardDeadLetters(keys?: string[]): Promise<void>;
  /**
   * Returns the inspector, with the client's state, the reason for each slot's content, focus and sandbox; `null` if it cannot be
   * loaded.
   */
  inspect(): Promise<Inspector | null>;
  /** Opts in. From now on, banners are synced, and events are stored and sent. */
  enable(): Promise<void>;
  /** Opts out in every tab. `queued` is the treatment of queued events. Default `'keep'`. */
  disable(queued?: OptOutPolicy): Promise<void>;
  /** Stops the client: unmounts all slots and releases listeners, timers, locks and observers. Stored events stay. */
  stop(): void;
  /**
   * Deletes the cache, queued events, dismissals, dead letters and counters, then stops the client. Nothing is written
   * afterwards.
   */
  wipe(): Promise<void>;
}
