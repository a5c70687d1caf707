import type { UserAlias } from '../../protocol/index.ts';

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
