import type { UserAlias } from '../../protocol/index.ts';

/** How often and when a user did something. Times are Unix milliseconds. */
export interface Tally {
  first: number;
  last: number;
  count: number;
}

export interface PushToken {
  app_id: string;
  token: string;
  device_id: string;
}

/** One user. Attribute names and values are the wire's. */
export interface Profile {
  /** Assigned by us, unique in its workspace: the row's user key. */
  brazeId: string;
  externalId: string | null;
  aliases: UserAlias[];
  email: string | null;
  phone: string | null;
  /** Standard attributes other than identifiers, e-mail, phone, subscription groups and push tokens. */
  standard: Record<string, unknown>;
  custom: Record<string, unknown>;
  /** By subscription group ID. */
  subscriptionGroups: Record<string, { state: 'subscribed' | 'unsubscribed'; doubleOptIn?: boolean }>;
  pushTokens: PushToken[];
  /** By event name, and by product ID. */
  events: Record<string, Tally>;
  purchases: Record<string, Tally & { revenue: number }>;
  createdAtMs: number;
  updatedAtMs: number;
}
