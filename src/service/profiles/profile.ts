import type { SubscriptionState, UserAlias } from '../../protocol/index.ts';
import type { StoredEvent } from './events.ts';

/**
 * Returns an own property. Attribute and property names come from the wire, so `__proto__` and `constructor` are ordinary names
 * that must not be read through the prototype.
 */
export const getOwn = <T>(record: Record<string, T>, name: string): T | undefined => {
  const value = record[name];
  // All inherited properties of a JSON record are functions, except `__proto__`. Always calling `hasOwn` would double the cost.
  if (typeof value !== 'function' && name !== '__proto__') return value;
  return Object.hasOwn(record, name) ? value : undefined;
};

export const setOwn = <T>(record: Record<string, T>, name: string, value: T): void => {
  if (name === '__proto__') {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  } else record[name] = value;
};

/** Statistics of an event or a product. Times are Unix milliseconds. */
export interface ActivityStats {
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
  state: SubscriptionState;
  double_opt_in?: boolean;
}

/** User profile. Attributes have the names and values of the wire format. */
export interface Profile {
  /** ID assigned by the service, unique in the database. On the wire, it is the `braze_id`, as a decimal string. */
  userId: number;
  externalId: string | null;
  aliases: UserAlias[];
  email: string | null;
  phone: string | null;
  /** Standard attributes except identifiers, email, phone, subscription groups and push tokens. */
  standard: Record<string, unknown>;
  custom: Record<string, unknown>;
  /** States by subscription group ID. */
  subscriptionGroups: Record<string, GroupState>;
  pushTokens: PushToken[];
  /** Statistics by event name. */
  events: Record<string, ActivityStats>;
  /** Statistics by product ID. */
  purchases: Record<string, ActivityStats & { revenue: number }>;
  /** Hashes of the latest clicks whose `on_click` changed this profile (`users/click-effects.ts`). Excluded from exports. */
  onClickHashes: string[];
  createdAtMs: number;
  updatedAtMs: number;
}

/**
 * Creates a counter of names in records of profiles, such as attributes, events and products. Counts once per request, because
 * counting 20,000 names for each event would block the service for seconds.
 */
export const createKeyQuota = () => {
  const counts = new Map<object, number>();

  return {
    /** Reserves a new name, which the caller must then add. Returns `false` if the record is full; `true` for an existing name. */
    tryReserve(record: Record<string, unknown>, name: string, max: number): boolean {
      if (getOwn(record, name) !== undefined) return true;
      const count = counts.get(record) ?? Object.keys(record).length;
      const isFull = count >= max;
      counts.set(record, isFull ? count : count + 1);
      return !isFull;
    },

    /** Releases a name. */
    release(record: object): void {
      const count = counts.get(record);
      if (count !== undefined) counts.set(record, count - 1);
    },
  };
};

export type KeyQuota = ReturnType<typeof createKeyQuota>;

/** Updates the time of the last change. Never decreases it, because requests may be applied out of order. */
export const touch = (profile: Profile, nowMs: number): void => {
  if (nowMs > profile.updatedAtMs) profile.updatedAtMs = nowMs;
};

/** Creates a profile with defaults. */
export const createProfile = (
  known: { [Member in keyof Profile]?: Profile[Member] | undefined } & Pick<
    Profile,
    'userId' | 'createdAtMs' | 'updatedAtMs'
  >,
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
  onClickHashes: known.onClickHashes ?? [],
  createdAtMs: known.createdAtMs,
  updatedAtMs: known.updatedAtMs,
});

/** Value of the column `profile`. Its members have wire names, as in an export. Omits empty members. */
export interface ProfileJson {
  email?: string | undefined;
  phone?: string | undefined;
  user_aliases?: Profile['aliases'] | undefined;
  custom_attributes?: Profile['custom'] | undefined;
  subscription_groups?: Profile['subscriptionGroups'] | undefined;
  push_tokens?: Profile['pushTokens'] | undefined;
  custom_events?: Profile['events'] | undefined;
  purchases?: Profile['purchases'] | undefined;
  on_clicks?: Profile['onClickHashes'] | undefined;
  [standardAttribute: string]: unknown;
}

const unlessEmpty = <T extends object>(value: T): T | undefined => {
  // Returns early, because the loop below would convert each array index to a string.
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  for (const _ in value) return value;
  return undefined;
};

/** Converts a profile for its column. JSON omits `undefined` members. */
export const profileJson = (profile: Profile): ProfileJson => ({
  ...profile.standard,
  email: profile.email ?? undefined,
  phone: profile.phone ?? undefined,
  user_aliases: unlessEmpty(profile.aliases),
  custom_attributes: unlessEmpty(profile.custom),
  subscription_groups: unlessEmpty(profile.subscriptionGroups),
  push_tokens: unlessEmpty(profile.pushTokens),
  custom_events: unlessEmpty(profile.events),
  purchases: unlessEmpty(profile.purchases),
  on_clicks: unlessEmpty(profile.onClickHashes),
});

/** Reads a profile from the column `profile` and the other columns of its row. */
export const readProfile = (
  columns: Pick<Profile, 'userId' | 'externalId' | 'createdAtMs' | 'updatedAtMs'>,
  json: ProfileJson,
): Profile => {
  const {
    email,
    phone,
    user_aliases: aliases,
    custom_attributes: custom,
    subscription_groups: subscriptionGroups,
    push_tokens: pushTokens,
    custom_events: events,
    purchases,
    on_clicks: onClickHashes,
    ...standard
  } = json;
  return createProfile({
    ...columns,
    email,
    phone,
    aliases,
    standard,
    custom,
    subscriptionGroups,
    pushTokens,
    events,
    purchases,
    onClickHashes,
  });
};

const add = (stats: ActivityStats, timeMs: number, count: number) => {
  stats.count += count;
  if (timeMs < stats.first) stats.first = timeMs;
  if (timeMs > stats.last) stats.last = timeMs;
};

/** Limits numbers, because JSON stores infinite numbers as `null`. */
const { MAX_VALUE } = Number;
export const addClamped = (a: number, b: number): number => Math.max(-MAX_VALUE, Math.min(MAX_VALUE, a + b));

/** Counts an event or a purchase in the profile. */
export const recordActivity = (profile: Profile, event: StoredEvent): void => {
  const { timeMs, receivedAtMs } = event;
  if (event.kind === 'event') {
    const stats = getOwn(profile.events, event.name);
    if (stats) add(stats, timeMs, 1);
    else setOwn(profile.events, event.name, { first: timeMs, last: timeMs, count: 1 });
  } else {
    // A quantity of n counts as n purchases.
    const { productId, price, quantity } = event;
    const stats = getOwn(profile.purchases, productId);
    if (stats) {
      add(stats, timeMs, quantity);
      stats.revenue = addClamped(stats.revenue, price * quantity);
    } else {
      const revenue = addClamped(0, price * quantity);
      setOwn(profile.purchases, productId, { first: timeMs, last: timeMs, count: quantity, revenue });
    }
  }
  touch(profile, receivedAtMs);
};
