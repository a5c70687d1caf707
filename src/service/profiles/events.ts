import type { EventType } from '../../protocol/index.ts';

interface EventOfUser {
  /** External ID of the user; `null` if the user has none, and until the event is recorded. */
  externalId: string | null;
  userId: number;
  appId: string | null;
  /** Unix milliseconds. */
  timeMs: number;
  /** Receipt in Unix milliseconds. Never before `timeMs`. */
  receivedAtMs: number;
  properties: Record<string, unknown> | null;
}

export interface CustomEvent extends EventOfUser {
  kind: 'event';
  name: string;
}

export interface Purchase extends EventOfUser {
  kind: 'purchase';
  productId: string;
  /** ISO 4217 code in upper case. */
  currency: string;
  /** Unit price in the currency's major unit, negative for a refund. */
  price: number;
  quantity: number;
}

/** Row of `events`. */
export type StoredEvent = CustomEvent | Purchase;

/** Banner event without its user. Repeats have the same user, banner, type and time, and are stored only once. */
export interface NewBannerEvent {
  appId: string;
  bannerId: string;
  campaignId: string;
  /** Holdout in whose results the event also counts; `null` if none. */
  holdoutId: string | null;
  /** ID of the variant; `null` for a control banner. */
  variantId: string | null;
  placementId: string;
  /** Language in which the banner was shown; `null` if the campaign has no languages. */
  language: string | null;
  isControl: boolean;
  /** Whether the event is a test send. Test sends are stored, but excluded from exports and counts. */
  isTestSend: boolean;
  /** Eligibility round of the banner (number of earlier dismissals). */
  round: number;
  eventType: EventType;
  /** Link or button that was clicked; `null` if unknown. */
  buttonId: string | null;
  /** Timestamp as sent, in Unix milliseconds. A wrong clock may put it into the future. */
  timeMs: number;
  receivedAtMs: number;
  /** Date of the earlier of timestamp and receipt in the workspace's time zone, for example `2026-03-01`. */
  day: string;
}

/** Row of `banner_events` in the format of exports. */
export interface BannerEventRow extends Omit<NewBannerEvent, 'round'> {
  userId: number;
  externalId: string;
  /** Whether the event was the user's first of its type for the campaign at the time of storage. */
  isFirst: boolean;
}
