import type { Banner, BannerEvent, EventType } from './banner.ts';
import type { OptOutPolicy } from './consent/consent.ts';
import type { DeadLetter, Diagnostics, FlushOutcome } from './delivery/delivery.ts';
import type { Inspector } from './inspector/inspector.ts';
import type { Listener } from './notices.ts';
import type { PlacementHook } from './placement-hook.ts';

/** What `createPlacard` returns. No verb throws into the page; what went wrong is a `failed` notice. */
export interface Placard {
  /**
   * Shows the placement's banner in `element` and keeps it right until the returned function is called. The element needs a
   * box of its own (no `display: contents`) for its impressions; while it has `aria-busy="true"`, none counts.
   */
  mount(placementId: string, element: HTMLElement, hook: PlacementHook): () => void;
  /** Switches user, or signs out with `null`. The former user's cache and session go, queued events stay theirs. */
  identify(userId: string | null): Promise<void>;
  /** Explicit sync of the named placements (default: all that are mounted, and those named before), within the refresh budget. */
  refresh(placementIds?: string[]): Promise<void>;
  /** Asks `mayShow` again where it keeps a slot empty, or has not answered: what came first is over. Costs no request. */
  reconsider(): void;
  /** What would be shown now; `null` where none is for this user, `undefined` before the first answer. */
  banner(placementId: string): Banner | null | undefined;
  /** Resolves when the event is durable, with `null` where it was not taken (no consent, no user, unknown banner). */
  track(banner: Banner, type: EventType): Promise<BannerEvent | null>;
  /** Sends what is queued now. Resolves with how many events were delivered and how many are left; never rejects. */
  flush(): Promise<FlushOutcome>;
  /** Calls `listener` for each notice until the returned function is called. */
  subscribe(listener: Listener): () => void;
  /** Says where every captured event is. */
  diagnostics(): Promise<Diagnostics>;
  /** The events that the service would not take, with its reasons. */
  deadLetters(): Promise<DeadLetter[]>;
  /** Puts dead letters back into the queue, by their keys. Default: all. */
  retryDeadLetters(keys?: string[]): Promise<void>;
  /** Gives dead letters up, by their keys. Default: all. */
  discardDeadLetters(keys?: string[]): Promise<void>;
  /** What the client knows now, why each slot shows what it shows, focus and sandbox; `null` where that cannot be loaded. */
  inspect(): Promise<Inspector | null>;
  /** Takes consent: from now on banners are synced, and events stored and sent. */
  enable(): Promise<void>;
  /** Takes consent away in every tab. `queued` says what happens to stored events. Default `keep`. */
  disable(queued?: OptOutPolicy): Promise<void>;
  /** Leaves no listener, timer, lock or observer behind; stored events stay. */
  stop(): void;
  /** Forgets cache, queued events, suppressions, dead letters and counters, and writes nothing afterwards. */
  wipe(): Promise<void>;
}
