import type { BannerEvent, EventType } from '../banner-event.ts';
import type { OptOutPolicy } from '../options.ts';

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
  /** True while IndexedDB cannot be used: events survive the page only as long as the page does. */
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

/** What happened, as the page saw it. */
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
  /** Stored only where no event was stored under this name before, whichever tab asked, and across crashes. */
  once?: string;
}

/** The half of the client that gets events to the server; what `createDelivery(options)` returns. */
export interface Delivery {
  /** Resolves with the stored event when it is durable, with `null` where it is not (no consent, wiped, counted before). */
  capture(event: CapturedEvent): Promise<BannerEvent | null>;
  /** Sends what is due now; callers that meet a running flush share its outcome. */
  flush(): Promise<FlushOutcome>;
  /** The dismissals of a user that are still to be delivered. */
  dismissals(userId: string): Promise<BannerEvent[]>;
  diagnostics(): Promise<Diagnostics>;
  deadLetters(): Promise<DeadLetter[]>;
  retryDeadLetters(keys?: string[]): Promise<void>;
  discardDeadLetters(keys?: string[]): Promise<void>;
  /** Whether the user's last choice, in any tab or on an earlier visit, allows events to be stored. */
  isAllowed(): Promise<boolean>;
  /** Stops capturing and sending, in every tab. */
  disable(policy: OptOutPolicy): Promise<void>;
  enable(): Promise<void>;
  /** Releases timers, listeners, locks and channels; stored events stay. */
  stop(): void;
  /** Forgets everything, and writes nothing afterwards. */
  wipe(): Promise<void>;
}
