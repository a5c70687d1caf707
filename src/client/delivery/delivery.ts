import type { BannerEvent, EventType } from '../banner.ts';
import type { Choice, ChoiceRecord, Consent, Decision } from '../consent/consent.ts';
import type { UserTokens } from '../credentials/credentials.ts';
import type { Fail, Notice, Notify } from '../notices.ts';
import type { DeliveryChoices, DeliveryOptions } from '../options/choices.ts';
import type { Clock } from '../platform/clock.ts';
import type { PageLifecycle } from '../platform/page-lifecycle.ts';
import type { Store } from '../platform/store.ts';
import type { TabChannel, TabLink } from '../platform/tab-channel.ts';
import type { Pause } from '../platform/waits.ts';
import type { createHandOff } from './hand-off.ts';
import type { Disk, InMemory } from './log/disk.ts';
import type { Claim, Claimed, QueuedEvent } from './log/records.ts';
import type { Sent } from './sender/sent.ts';

/** Why the server skipped an event. */
export interface Skip {
  /** Text for people, as the server sent it; do not branch on it. */
  reason: string;
  /** How many answers have named the event as skipped. Requests without an answer do not count. */
  attempts: number;
}

/** Repairs a skipped event (return the changed event), sends it again as it is (return it), or gives it up (`null`). */
export type Correct = (event: BannerEvent, skip: Skip) => BannerEvent | null | Promise<BannerEvent | null>;

/** Where every captured event is now. `captured` is always the sum of all the others. */
export interface Diagnostics {
  captured: number;
  delivered: number;
  pending: number;
  inDoubt: number;
  deadLetters: number;
  discarded: number;
  evicted: number;
  expired: number;
  purged: number;
  /** True while events are kept in memory, and end with the page: IndexedDB cannot be used, a newer version has it, or the user has not chosen. */
  memoryMode: boolean;
  /** True in the one tab that sends at the moment. */
  sender: boolean;
  /** Unix milliseconds before which nothing is sent, or `null`. */
  waitingUntil: number | null;
}

/** An event the server would not take, with its reason. */
export interface DeadLetter {
  key: string;
  event: BannerEvent;
  reason: string;
  attempts: number;
}

/** How many events a flush delivered, and how many are still queued. */
export type FlushOutcome = { delivered: number; pending: number };

/** An event to be stored. */
export interface CapturedEvent {
  type: EventType;
  bannerId: string;
  placementId: string;
  userId: string;
  /**
   * When it happened, in Unix milliseconds of the device's clock. Default: the moment of the call. The stored time comes
   * from a clock that keeps order, and no two events of one user, banner and type have the same.
   */
  at?: number;
  /** It happened while events were captured. So it is stored after a stop, and after an opt-out that keeps or sends what is queued. */
  wasAllowed?: boolean;
  /** Stored only where no event was stored under this name before, in any tab, and across crashes. */
  once?: string;
}

/** The part of the client that stores events and sends them to the server. `createDelivery(setup)` returns it. */
export interface Delivery {
  /** Resolves with the event when it is durable, with `null` where it is not (no consent, wiped, counted before). */
  capture(event: CapturedEvent): Promise<BannerEvent | null>;
  /** Sends all that is queued. Callers that meet a running flush share its outcome. */
  flush(): Promise<FlushOutcome>;
  /** The events of a user that are still to be delivered. */
  queued(userId: string): Promise<BannerEvent[]>;
  diagnostics(): Promise<Diagnostics>;
  deadLetters(): Promise<DeadLetter[]>;
  retryDeadLetters(keys?: string[]): Promise<void>;
  discardDeadLetters(keys?: string[]): Promise<void>;
  /** Whether the user's last choice, in any tab or on an earlier visit, allows events to be stored. */
  mayAct(): Promise<boolean>;
  /**
   * Brings what the user decided in this page to the log and to the other tabs, and carries it out for what is queued. The consent has it already.
   * `isDiskDone`: a wipe or a purge was carried out on the disk before, and the user has opted in since. What is stored stays then, and only what
   * waits in this page is forgotten.
   */
  decide(decision: Decision, isDiskDone?: boolean): Promise<void>;
  /** The client has stopped: releases timers, listeners and channels; stored events stay. */
  stop(): void;
}

/** Where events go, and what they name. */
export interface Api {
  /** Base URL of the API, without the path. */
  endpoint: string;
  /** The client key; a function is called before a request, and again after a refusal. */
  apiKey: string | (() => string | Promise<string>);
  appId: string;
  appVersion: string;
  /** Names the log, and the channel between the tabs. */
  logName: string;
  fetch?: typeof fetch | undefined;
}

/** The platform of the page or the service worker. The late chunk takes store and clock from the first chunk. */
export interface DeliveryPlatform {
  /** IndexedDB, as a rule; memory where it fails is added by the log itself. */
  openStore: (name: string) => Store;
  clock: Clock;
  /** 0 ≤ x < 1. */
  random: () => number;
  lifecycle: PageLifecycle;
  /** Opens the channel to the other tabs. Default `BroadcastChannel`; without one the log alone carries the news. */
  openChannel?: ((name: string) => TabLink) | undefined;
}

/** The functions of the page, or of the service worker, that the delivery calls. */
export interface DeliveryHost {
  notify: Notify;
  fail: Fail;
  correct?: Correct | undefined;
  /** The service has accepted these dismissals. */
  onDismissed?: (dismissals: readonly BannerEvent[]) => void;
  /** Frees space of less value than events (the banner cache), when the storage quota is reached. */
  evict?: () => Promise<void>;
}

export interface DeliverySetup {
  api: Api;
  /** Proofs of the users. */
  userTokens: UserTokens;
  consent: Consent;
  options: DeliveryChoices | undefined;
  platform: DeliveryPlatform;
  host: DeliveryHost;
  /** Loads the hand-off to a service worker. */
  loadHandOff?: () => Promise<{ createHandOff: typeof createHandOff }>;
  /** In a service worker: sends only when `flush()` is called, and leaves corrections to the pages. */
  isWorker: boolean;
  /** The client has stopped: nothing is sent, and nothing is captured that happened after that. */
  isStopped: () => boolean;
}

/** The messages between the tabs. A tab that misses one finds the same in the log. */
export type TabNews =
  /** A request has been answered: another tab that waits may send, after this wait. */
  | { type: 'idle'; wait: Pause }
  /** These left the queue, by their `keyText`. */
  | { type: 'gone'; keys: string[] }
  /** The service worker has no host, so each page passes the worker's notices on to its own. */
  | { type: 'notice'; notice: Notice }
  | ({ type: 'consent' } & ChoiceRecord<Choice | 'wiped'>);

/** The part of the delivery that an ordinary visit does not need. `createTrouble` returns it. */
export interface Trouble {
  /** Records any result of a request in the log and tells the host. Returns how many events were delivered. */
  settle(claimed: Claimed, sent: Sent, apiKey: string): Promise<number>;
  /** The page that made this claim is gone. */
  settleAbandoned(claim: Claim): Promise<number>;
  /** Maximum number of events in a batch: the host's, or fewer after a rejection. */
  batchLimit(): number;
  correction: {
    /** Marks them in the log, so that one tab alone asks its host. Then resolves with the host's work, which goes on. */
    ask(skipped: QueuedEvent[]): Promise<{ decided: Promise<void> }>;
    /** Resolves when the host has decided about all that it was asked. */
    decided(): Promise<void>;
  };
  deadLetters: {
    list(): Promise<DeadLetter[]>;
    /** Moves dead letters back to their positions in the queue, as if they had never been sent. */
    retry(keys?: string[]): Promise<unknown>;
    discard(keys?: string[]): Promise<void>;
  };
  diagnostics(): Promise<Diagnostics>;
  /**
   * Returns when to look again during a pause, in Unix milliseconds; `undefined` if it is over, because there is another key than the one
   * that was rejected.
   */
  waitUntil(pause: Pause, apiKey: string): Promise<number | undefined>;
  /** Ends the backoff of all tabs, unless the server asked for it. */
  endBackoff(): Promise<void>;
  /** Removes what is too old, if it `isHour`, and then what is over a cap: the least and oldest first. */
  tidy(isHour: boolean, isOver: boolean): Promise<void>;
  /**
   * Frees space on a full disk: first the host's banner cache, then events, none of which is worth more than `written`, and any for a
   * decision. Returns false if nothing could be freed.
   */
  freeSpace(failures: number, written?: QueuedEvent[]): Promise<boolean>;
  /**
   * Deletes every event and dead letter up to this time, also those in flight, and the marks of which banners were seen. The totals stay.
   */
  purge(until: number): Promise<void>;
  /** Brings what memory holds to the disk. `hadRecord`: the disk had a control record a moment ago. */
  restore(disk: Disk, from: InMemory, hadRecord: boolean): Promise<void>;
}

/** What the parts of the delivery share: the setup, and what one page or service worker has of its own. */
export interface DeliveryContext extends Omit<DeliverySetup, 'platform' | 'options'>, DeliveryPlatform {
  /** Names this page. */
  tab: string;
  newId: () => string;
  options: DeliveryOptions;
  news: TabChannel<TabNews>;
  notify: Notify;
  fail: Fail;
  /** Rejects if that part cannot be loaded: then the log is left as it is. */
  trouble: () => Promise<Trouble>;
  /** That part if it is loaded. */
  loaded: () => Trouble | undefined;
  /** False without consent, while the page is prerendered, and once the client is stopped. */
  canSend: () => boolean;
}
