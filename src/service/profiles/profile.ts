import type { UserAlias } from '../../protocol/index.ts';
import type { StoredEvent } from './events.ts';

/**
 * Names of attributes and properties come from the wire, so `__proto__` and `constructor` are ordinary names here:
 * they are read and written as own members, never through the prototype.
 */
export const getOwn = <T>(record: Record<string, T>, name: string): T | undefined => {
  const value = record[name];
  // What a record of JSON inherits is functions, but for `__proto__`; asking it every time would cost as much again.
  if (typeof value !== 'function' && name !== '__proto__') return value;
  return Object.hasOwn(record, name) ? value : undefined;
};

export const setOwn = <T>(record: Record<string, T>, name: string, value: T): void => {
  if (name === '__proto__') {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else record[name] = value;
};

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

export interface GroupState {
  state: 'subscribed' | 'unsubscribed';
  double_opt_in?: boolean;
}

/** One user. Attribute names and values are the wire's. */
export interface Profile {
  /** Assigned by us, unique in the database. On the wire it is the `braze_id`, as a decimal text. */
  userId: number;
  externalId: string | null;
  aliases: UserAlias[];
  email: string | null;
  phone: string | null;
  /** Standard attributes other than identifiers, e-mail, phone, subscription groups and push tokens. */
  standard: Record<string, unknown>;
  custom: Record<string, unknown>;
  /** By subscription group ID. */
  subscriptionGroups: Record<string, GroupState>;
  pushTokens: PushToken[];
  /** By event name, and by product ID. */
  events: Record<string, Tally>;
  purchases: Record<string, Tally & { revenue: number }>;
  /** The latest clicks that did something to the user (`users/click-effects.ts`): ours alone, in no export. */
  clicks: string[];
  createdAtMs: number;
  updatedAtMs: number;
}

/** A request may be applied after one that came later: the time never goes back. */
export const setUpdated = (profile: Profile, nowMs: number): void => {
  if (nowMs > profile.updatedAtMs) profile.updatedAtMs = nowMs;
};

/** A profile with these members, and all others empty. */
export const completeProfile = (
  known: Partial<Profile> & Pick<Profile, 'userId' | 'createdAtMs' | 'updatedAtMs'>,
): Profile => ({
  userId: known.userId,
  externalId: known.externalId ?? null,
  aliases: known.aliases ?? [],
  email: known.email ?? null,
  phone: known.phone ?? null,
  standard: known.standard ?? {},
  custom: known.custom ?? {},
  subscriptionGroups: known.subscriptionGroups ?? {},
  pushTokens: known.pushTokens ?? [],
  events: known.events ?? {},
  purchases: known.purchases ?? {},
  clicks: known.clicks ?? [],
  createdAtMs: known.createdAtMs,
  updatedAtMs: known.updatedAtMs,
});

/** What the column `profile` holds. The members are those of an export; one that is empty is left out. */
export interface ProfileJson {
  email?: string;
  phone?: string;
  user_aliases?: Profile['aliases'];
  custom_attributes?: Profile['custom'];
  subscription_groups?: Profile['subscriptionGroups'];
  push_tokens?: Profile['pushTokens'];
  custom_events?: Profile['events'];
  purchases?: Profile['purchases'];
  on_clicks?: Profile['clicks'];
  [standardAttribute: string]: unknown;
}

/** What is `undefined` is left out of JSON. */
const unlessEmpty = <T extends object>(value: T): T | undefined => {
  // Asking a list like a record would make a text of each of its indices.
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  for (const _ in value) return value;
  return undefined;
};

/** Ready to be written as JSON. */
export const profileJson = (profile: Profile): object => ({
  ...profile.standard,
  email: profile.email ?? undefined,
  phone: profile.phone ?? undefined,
  user_aliases: unlessEmpty(profile.aliases),
  custom_attributes: unlessEmpty(profile.custom),
  subscription_groups: unlessEmpty(profile.subscriptionGroups),
  push_tokens: unlessEmpty(profile.pushTokens),
  custom_events: unlessEmpty(profile.events),
  purchases: unlessEmpty(profile.purchases),
  on_clicks: unlessEmpty(profile.clicks),
});

const NOT_STANDARD = new Set([
  'email',
  'phone',
  'user_aliases',
  'custom_attributes',
  'subscription_groups',
  'push_tokens',
  'custom_events',
  'purchases',
  'on_clicks',
]);

/** The profile of a row: its JSON, and the columns beside it. */
export const readProfile = (
  columns: Pick<Profile, 'userId' | 'externalId' | 'createdAtMs' | 'updatedAtMs'>,
  json: ProfileJson,
): Profile => {
  const standard: Profile['standard'] = {};
  for (const name in json) if (!NOT_STANDARD.has(name)) standard[name] = json[name];
  return completeProfile({
    userId: columns.userId,
    externalId: columns.externalId,
    aliases: json.user_aliases ?? [],
    email: json.email ?? null,
    phone: json.phone ?? null,
    standard,
    custom: json.custom_attributes ?? {},
    subscriptionGroups: json.subscription_groups ?? {},
    pushTokens: json.push_tokens ?? [],
    events: json.custom_events ?? {},
    purchases: json.purchases ?? {},
    clicks: json.on_clicks ?? [],
    createdAtMs: columns.createdAtMs,
    updatedAtMs: columns.updatedAtMs,
  });
};

const add = (tally: Tally, timeMs: number, count: number) => {
  tally.count += count;
  if (timeMs < tally.first) tally.first = timeMs;
  if (timeMs > tally.last) tally.last = timeMs;
};

/** JSON has no number beyond these: it would keep `null`. */
const { MAX_VALUE } = Number;
export const sumOf = (a: number, b: number): number => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, a + b));

/** Counts an event or a purchase in its user's profile. */
export const tallyEvent = (profile: Profile, event: StoredEvent): void => {
  const { timeMs, receivedAtMs } = event;
  if (event.kind === 'event') {
    const tally = getOwn(profile.events, event.name);
    if (tally) add(tally, timeMs, 1);
    else setOwn(profile.events, event.name, { first: timeMs, last: timeMs, count: 1 });
  } else {
    // A quantity of n stands for n purchases of one.
    const { productId, price, quantity } = event;
    const tally = getOwn(profile.purchases, productId);
    if (tally) {
      add(tally, timeMs, quantity);
      tally.revenue = sumOf(tally.revenue, price * quantity);
    } else {
      const revenue = sumOf(0, price * quantity);
      setOwn(profile.purchases, productId, { first: timeMs, last: timeMs, count: quantity, revenue });
    }
  }
  setUpdated(profile, receivedAtMs);
};
