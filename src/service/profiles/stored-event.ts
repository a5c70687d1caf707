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
