import type { EventType } from '../../protocol/index.ts';

interface EventOfUser {
  /** `null` if the user has none, and until the event is recorded. */
  externalId: string | null;
  userId: number;
  appId: string | null;
  /** Unix milliseconds. */
  timeMs: number;
  /** Never before `timeMs`. */
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
  /** ISO 4217, in capitals. */
  currency: string;
  /** Unit price in the currency's major unit; negative for a refund. */
  price: number;
  quantity: number;
}

/** Row of `events`. */
export type StoredEvent = CustomEvent | Purchase;

/** Banner event without its user. A repeat has the same user, banner, type and time, and is stored once. */
export interface NewBannerEvent {
  appId: string;
  bannerId: string;
  campaignId: string;
  /** Holdout in whose results the event counts too; `null` if there is none, or the event does not count for it. */
  holdoutId: string | null;
  /** `null` for a control banner. */
  variantId: string | null;
  placementId: string;
  /** Language in which the banner was shown; `null` if the campaign has no languages. */
  language: string | null;
  isControl: boolean;
  /** Test sends are stored, but excluded from exports and counts. */
  isTestSend: boolean;
  /** The banner's eligibility round (number of earlier dismissals). */
  round: number;
  eventType: EventType;
  /** Timestamp as sent, in Unix milliseconds. A wrong clock may put it into the future. */
  timeMs: number;
  receivedAtMs: number;
  /** Date of the earlier of the two in the workspace's time zone, for example `2026-03-01`. */
  day: string;
}

/** Row of `banner_events`, as an export reads it. */
export interface BannerEventRow extends Omit<NewBannerEvent, 'round'> {
  userId: number;
  externalId: string;
  /** Whether it was the user's first event of its type for the campaign when it was stored. */
  isUnique: boolean;
}
