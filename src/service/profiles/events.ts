import type { EventType } from '../../protocol/index.ts';

interface EventOfUser {
  /** `null` of a user without one, and until the event is recorded with its user. */
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
  /** Of one, in the currency's major unit; negative is a refund. */
  price: number;
  quantity: number;
}

/** One row of `events`. */
export type StoredEvent = CustomEvent | Purchase;

/** One banner event without its user. A repeat has the same user, banner, type and time, and is stored once. */
export interface NewBannerEvent {
  appId: string;
  bannerId: string;
  campaignId: string;
  /** The holdout in whose results it counts as well: `null` where there is none, or it is no event of those. */
  holdoutId: string | null;
  /** `null` of a control banner. */
  variantId: string | null;
  placementId: string;
  /** In which the banner was shown; `null` of a campaign that names no language. */
  language: string | null;
  isControl: boolean;
  /** Test sends are stored, and kept out of exports and counts. */
  isTestSend: boolean;
  /** The eligibility round of the banner: how often the user had dismissed the campaign before. */
  round: number;
  eventType: EventType;
  /** The instant as it was sent, which a wrong clock may put into the future. Unix milliseconds. */
  timeMs: number;
  receivedAtMs: number;
  /** The date of the earlier of the two in the workspace's time zone, such as `2026-03-01`. */
  day: string;
}

/** One row of `banner_events`, as an export reads it. */
export interface BannerEventRow extends Omit<NewBannerEvent, 'round'> {
  userId: number;
  externalId: string;
  /** Whether it was the user's first of its type for the campaign when it was stored. */
  isUnique: boolean;
}
