import type { RowOf } from '../sql/table.ts';
import type { BANNER_EVENTS, EVENTS } from '../sql/user-tables.ts';

type EventOfUser = Pick<
  RowOf<typeof EVENTS>,
  'userId' | 'appId' | 'timeMs' | 'receivedAtMs' | 'properties'
> & {
  /** External ID of the user; `null` if the user has none, and until the event is recorded. */
  externalId: string | null;
};

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

export type StoredEvent = CustomEvent | Purchase;

/** Row of `events`. */
export type EventRow = StoredEvent & { eventId: number; workspaceId: string };

/** Row of `banner_events` with the external ID of its user. */
export type BannerEventRow = RowOf<typeof BANNER_EVENTS> & { externalId: string };

/** Banner event without its user. Repeats have the same user, banner, type and time, and are stored only once. */
export type NewBannerEvent = Omit<
  RowOf<typeof BANNER_EVENTS>,
  'bannerEventId' | 'workspaceId' | 'userId' | 'isFirstOfType'
> & {
  /** Eligibility round of the banner (number of earlier dismissals). */
  round: number;
};
