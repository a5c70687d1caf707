import type { UserAlias } from '../../protocol/index.ts';
import type { Profile, Tally } from '../profiles/profile.ts';

/** What somebody did, as an audience filter sees it. Dates compare with ISO 8601 texts of the filter. */
export interface EventSummary {
  count: number;
  first: Date;
  last: Date;
  /** Days since, with their fraction: windows that move with the clock, such as "within 30 days". */
  first_days_ago: number;
  last_days_ago: number;
}

/**
 * The document that an audience filter is matched against: one user. Standard attributes are members by their wire
 * name (`first_name`, `country`, `language` …); what the user does not have is absent. A name at the top of a filter
 * that is none of these is a custom attribute: `{ "tier": "gold" }` is `{ "custom_attributes.tier": "gold" }`.
 *
 * ```json
 * { "external_id": "u-771", "country": "PL", "email": "kim@example.org",
 *   "custom_attributes": { "tier": "gold" },
 *   "subscription_groups": { "<group id>": "subscribed" },
 *   "events": { "quiz_done": { "count": 3, "first": "<date>", "last": "<date>", "last_days_ago": 1.5 } },
 *   "purchases": { "<product id>": { "count": 1, "revenue": 12.5, "first": "<date>", "last": "<date>" } },
 *   "event_list": [{ "name": "quiz_done", "count": 3 }],
 *   "purchase_list": [{ "product_id": "sku.1", "count": 1 }],
 *   "app_id": "…", "app_version": "4.2.0" }
 * ```
 *
 * The two lists, with `$elemMatch`, are for names that have a dot.
 */
export interface AudienceMember {
  external_id: string;
  email?: string;
  phone?: string;
  user_aliases: UserAlias[];
  custom_attributes: Record<string, unknown>;
  subscription_groups: Record<string, 'subscribed' | 'unsubscribed'>;
  events: Record<string, EventSummary>;
  purchases: Record<string, EventSummary & { revenue: number }>;
  app_id: string;
  app_version: string;
  [standardAttribute: string]: unknown;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Who asks for banners: the profile where there is one, and where the question comes from. */
export interface Asker {
  externalId: string;
  profile: Readonly<Profile> | null;
  appId: string;
  appVersion: string;
}

export const daysSince = (timeMs: number, nowMs: number): number => (nowMs - timeMs) / DAY_MS;

const summaryOf = ({ count, first, last }: Tally, nowMs: number): EventSummary => ({
  count,
  first: new Date(first),
  last: new Date(last),
  first_days_ago: daysSince(first, nowMs),
  last_days_ago: daysSince(last, nowMs),
});

/** Makes what a filter asks for when it asks: a user may have done a thousand things, a filter looks at one. */
const byName = <T extends Tally, R>(tallies: Record<string, T>, make: (tally: T) => R) => {
  const names: Record<string, unknown> = tallies;
  return new Proxy(names, {
    get: (_, name) =>
      typeof name === 'string' && Object.hasOwn(tallies, name) ? make(tallies[name]!) : undefined,
  }) as Record<string, R>;
};

/** The document that audience filters see. A user without a profile has done nothing and has no attributes. */
export const audienceOf = (
  { externalId, profile, appId, appVersion }: Asker,
  nowMs: number,
): AudienceMember => {
  const doneEvents = profile?.events ?? {};
  const donePurchases = profile?.purchases ?? {};
  const bought = (tally: Profile['purchases'][string]) => ({
    ...summaryOf(tally, nowMs),
    revenue: tally.revenue,
  });
  let eventList: unknown[] | undefined;
  let purchaseList: unknown[] | undefined;
  return {
    ...profile?.standard,
    ...(profile && { braze_id: String(profile.userId) }),
    ...(profile?.email != null && { email: profile.email }),
    ...(profile?.phone != null && { phone: profile.phone }),
    external_id: externalId,
    user_aliases: profile?.aliases ?? [],
    custom_attributes: profile?.custom ?? {},
    app_id: appId,
    app_version: appVersion,
    get subscription_groups() {
      const groups = Object.entries(profile?.subscriptionGroups ?? {});
      return Object.fromEntries(groups.map(([id, { state }]) => [id, state]));
    },
    events: byName(doneEvents, (tally) => summaryOf(tally, nowMs)),
    purchases: byName(donePurchases, bought),
    // Made once, however many conditions read them: a user may have done a thousand things.
    get event_list() {
      eventList ??= Object.entries(doneEvents).map(([name, tally]) => ({ name, ...summaryOf(tally, nowMs) }));
      return eventList;
    },
    get purchase_list() {
      purchaseList ??= Object.entries(donePurchases).map(([product_id, tally]) => ({
        product_id,
        ...bought(tally),
      }));
      return purchaseList;
    },
  };
};
