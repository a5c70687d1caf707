import type { BannerEvent, EventType } from '../banner.ts';
import type { Fail, Notice, Notify } from '../notices.ts';
import type { DeliveryChoices, DeliveryOptions, OnInvalidOption } from '../options/option-schema.ts';
import type { ConsentRecord, ConsentState, Decision, StoreDecision } from '../permission.ts';
import type { Clock } from '../platform/clock.ts';
import type { HttpResponse, PostJson, UserTokens } from '../platform/http.ts';
import type { BroadcastChannelLike, LivePermission, PageLifecycle, TabChannel } from '../platform/page.ts';
import type { Pause } from '../platform/pauses.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import type { Claim, Claimed, QueuedEvent } from './log/records.ts';

/** Reason that the server rejected an event, with its number of attempts. */
export interface Rejection {
  /** Human-readable reason from the server. Do not branch on it. */
  reason: string;
  /** Number of responses that rejected the event. Requests without a response do not count. */
  attempts: number;
}

/**
 * Handles a rejected event. Return a changed event to correct it, the same event to send it again, or `null` to make it a dead
 * letter. If it throws or takes more than 10 seconds, the event is sent again unchanged. `userId` cannot be changed.
 */
export type OnEventRejected = (
  event: BannerEvent,
  rejection: Rejection,
) => BannerEvent | null | Promise<BannerEvent | null>;

/** Number of events by state. `captured` is the sum of all other counts. */
export interface Diagnostics {
  /** Stored since the log was created or wiped. */
  captured: number;
  /** Accepted by the server. */
  delivered: number;
  /** Queued, or in a request in flight. */
  pending: number;
  /** Queued after a request whose outcome is unknown: no response, an unreadable one, or a 5xx that the API did not send. */
  inDoubt: number;
  /** Set aside after a permanent rejection. */
  deadLetters: number;
  /** Dropped: dead letters discarded by the host, and events in doubt with `at-most-once`. */
  discarded: number;
  /** Removed because of a cap, the storage quota or a damaged record. */
  evicted: number;
  /** Removed because they were older than `maxAgeMs`. */
  expired: number;
  /** Deleted on opt-out. */
  purged: number;
  /**
   * `true` while events are kept only in memory, because IndexedDB is unavailable or in use by a newer version, or consent is
   * pending. They are lost if the page closes before they are sent.
   */
  memoryMode: boolean;
  /** `true` in the tab that currently sends. */
  isLeader: boolean;
  /** End of the sending pause, in Unix milliseconds; `null` if sending is not paused. */
  pausedUntil: number | null;
}

/** Event set aside after a permanent rejection. */
export interface DeadLetter {
  /** Key for `retryDeadLetters` and `discardDeadLetters`. */
  key: string;
  event: BannerEvent;
  /** Human-readable reason from the server. Do not branch on it. */
  reason: string;
  /** Number of responses that rejected the event. */
  attempts: number;
}

/** Number of events that a flush delivered, and number of events still queued. */
export type FlushResult = { delivered: number; pending: number };

/** Event to store with `capture()`. */
export interface CapturedEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /**
   * Device time of the event, in Unix milliseconds. Default: the time of the call. The stored time keeps call order, and is
   * unique per user, banner and type.
   */
  at?: number;
  /**
   * Whether the event happened while capturing was allowed. If so, it is stored even after a stop, or after an opt-out that keeps
   * or sends the queue.
   */
  wasAllowed?: boolean;
  /**
   * Deduplication name. The event is stored only if no event was stored under this name before, in any tab and across crashes.
   */
  dedupName?: string;
  /** Link or button that was clicked. A JavaScript host may pass any value; only a string is stored. */
  buttonId?: unknown;
}

/** Stores events and sends them to the server. */
export interface Delivery {
  /** Resolves with the event once it is durable; `null` if it is not stored (no consent, wiped, or counted before). */
  capture(event: CapturedEvent): Promise<BannerEvent | null>;
  /** Sends all queued events. Concurrent calls share one flush. */
  flush(): Promise<FlushResult>;
  /** Returns the undelivered events of a user. */
  queued(userId: string): Promise<BannerEvent[]>;
  diagnostics(): Promise<Diagnostics>;
  deadLetters(): Promise<DeadLetter[]>;
  retryDeadLetters(keys?: string[]): Promise<void>;
  discardDeadLetters(keys?: string[]): Promise<void>;
  /** Returns whether the user's last choice, in any tab or on an earlier visit, allows storing events. */
  readConsent(): Promise<boolean>;
  /**
   * Stores a decision of this page in the log, tells the other tabs, and applies it to queued events. The permission already
   * has the decision. `store` applies it to the disk as soon as the disk works. It is absent if the disk already has the decision:
   * stored events then stay, and only pending captures of this page are discarded.
   */
  applyDecision(decision: Decision, store: StoreDecision | undefined): Promise<void>;
  /** Releases timers, listeners and channels. Stored events stay. */
  stop(): void;
}

/** Options, platform and callbacks of a page or a service worker. */
export interface DeliverySetup {
  postJson: PostJson;
  /**
   * Client key, or a function that returns it. The function is called before a request, and again after the server rejects the
   * key.
   */
  apiKey: string | (() => string | Promise<string>);
  appId: string;
  appVersion: string;
  /** Name of the log and of the tab channel. */
  logName: string;
  /** The host's options. */
  delivery?: DeliveryChoices | undefined;
  onInvalidOption: OnInvalidOption;
  onEventRejected?: OnEventRejected | undefined;
  userTokens: UserTokens;
  permission: LivePermission;
  notify: Notify;
  fail: Fail;
  /** Opens the store, usually IndexedDB. The log falls back to memory. */
  openStore: (name: string) => Store;
  clock: Clock;
  /** Returns a number from 0 (included) to 1 (excluded). */
  random: () => number;
  lifecycle: PageLifecycle;
  /** Opens the channel to the other tabs. Default: `BroadcastChannel`. Without a channel, tabs see changes only in the log. */
  openChannel?: ((name: string) => BroadcastChannelLike) | undefined;
  /** Called with dismissals that the service has accepted. */
  onDismissed?: (dismissals: readonly BannerEvent[]) => void;
  /** Frees space by deleting less valuable data (the banner cache) if the storage quota is reached. */
  evictCache?: () => Promise<void>;
  /** Whether this is a service worker, which sends only when `flush()` is called, and leaves corrections to the pages. */
  isWorker?: boolean;
}

/** Messages between tabs. A tab that misses one finds the same state in the log. */
export type TabMessage =
  /** A request is settled. Another waiting tab may send after `pause`. */
  | { type: 'request-settled'; pause: Pause }
  /** Events that left the queue, by `formatKey`. */
  | { type: 'events-removed'; keys: string[] }
  /** Notice of the service worker, which has no host. Each page passes the notice on to its host. */
  | { type: 'notice'; notice: Notice }
  | ({ type: 'consent' } & ConsentRecord<ConsentState | 'wiped'>);

/**
 * Result of a request. The deferred chunk handles a response that accepts all events of a stored claim, until the trouble chunk is
 * loaded. The trouble chunk handles the rest.
 */
export type RequestResult =
  | { type: 'response'; response: HttpResponse; isAllAccepted: boolean }
  /** `isNewNetwork`: the network changed during the request, so the failure does not count against the new network. */
  | { type: 'no-response'; cause: unknown; isNewNetwork: boolean; wasOffline: boolean };

/** Runs work on the disk. `ifLost`, only for a write without a read, returns the value that replaces a lost response. */
export type DiskRequest = <T>(work: (store: Store) => Promise<T>, ifLost?: () => T) => Promise<T>;

/** Log in memory, while the disk cannot be used. */
export interface InMemory {
  type: 'memory';
  store: Store;
  /** Decisions of this page, in call order, that the disk lacks. They apply before memory is moved there. */
  decisions: Set<StoreDecision>;
}

/** API of the trouble chunk, which most visits do not load. */
export interface Trouble {
  /** Records the result of a request in the log. Returns the delivered events, which the caller reports. */
  settle(claimed: Claimed, result: RequestResult, apiKey: string): Promise<BannerEvent[]>;
  /** Settles an expired claim whose page is gone. */
  settleAbandoned(claim: Claim): Promise<unknown>;
  /** Returns the maximum number of events in a batch: the host's limit, or less after a rejection. */
  batchLimit(): number;
  correction: {
    /**
     * Marks the events in the log, so that only one tab passes them to its host. Resolves once the host's work has begun;
     * `settled` resolves once the decisions are stored.
     */
    request(rejected: QueuedEvent[]): Promise<{ settled: Promise<void> }>;
    /** Resolves when the decisions about all events are stored. */
    settled(): Promise<void>;
  };
  deadLetters: {
    list(): Promise<DeadLetter[]>;
    /** Moves dead letters back to their positions in the queue, as if they had never been sent. */
    retry(keys?: string[]): Promise<unknown>;
    discard(keys?: string[]): Promise<void>;
  };
  diagnostics(): Promise<Diagnostics>;
  /**
   * Returns the time of the next check during a pause, in Unix milliseconds; `undefined` if the pause is over because `apiKey` is
   * not the rejected key.
   */
  waitUntil(pause: Pause, apiKey: string): Promise<number | undefined>;
  /** Ends the backoff of all tabs, unless the server requested it. */
  endBackoff(): Promise<void>;
  /** Removes unusable records. Events count as evicted. */
  removeCorrupt(keys: StoreKey[]): Promise<void>;
  /** Removes expired events if `isHourlyCheckDue`, then events over a cap, starting with the least valuable and oldest. */
  enforceCaps(isHourlyCheckDue: boolean, isOver: boolean): Promise<void>;
  /**
   * Frees space on a full disk: first the host's banner cache, then events worth at most as much as `written`, or any events if
   * `written` is absent (a user decision). Returns `false` if nothing could be freed.
   */
  freeSpace(failures: number, written?: QueuedEvent[]): Promise<boolean>;
  /**
   * Deletes every event and dead letter up to this time, including those in flight, and the deduplication marks. Keeps the
   * totals.
   */
  purge(until: number): Promise<void>;
  /** Moves the log from memory to the disk. `hadRecord`: whether the last check found the log state on the disk. */
  restore(request: DiskRequest, from: InMemory, hadRecord: boolean): Promise<void>;
}

/** Setup and page-level state that all parts of the delivery share. */
export interface DeliveryContext extends Omit<DeliverySetup, 'delivery'> {
  /** ID of this page. */
  pageId: string;
  options: DeliveryOptions;
  channel: TabChannel<TabMessage>;
  /** Loads the trouble chunk. Rejects if it cannot be loaded; unconfirmed events then stay in the log. */
  trouble: () => Promise<Trouble>;
  /** Set once the trouble chunk is loaded. */
  loadedTrouble: Trouble | undefined;
}
