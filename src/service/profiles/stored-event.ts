/** An event or a purchase of a user, as it is kept. */
export interface StoredEvent {
  externalId: string | null;
  brazeId: string;
  kind: 'event' | 'purchase';
  appId: string | null;
  name: string;
  /** Text as sent, and the instant it stands for. */
  time: string;
  timeMs: number;
  receivedAtMs: number;
  /** The rest of the object: properties, and of a purchase its currency, price and quantity. */
  details: Record<string, unknown>;
}
