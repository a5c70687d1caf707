import type { JsonValue } from './json-value.ts';

/** Property types of a banner. Properties of other types are kept unchanged, and no getter returns them. */
export type PropertyType = 'string' | 'number' | 'boolean' | 'image' | 'jsonobject' | 'datetime';

/** Value type of each property type. */
export interface PropertyValues extends Record<PropertyType, unknown> {
  string: string;
  number: number;
  boolean: boolean;
  /** A URL. */
  image: string;
  jsonobject: Record<string, JsonValue>;
  /** Unix milliseconds. */
  datetime: number;
}

/** Property in the wire format. */
export type BannerProperty = {
  [Type in PropertyType]: { type: Type; value: PropertyValues[Type] };
}[PropertyType];

/** Banner in the wire format of `banners/sync`. */
export interface WireBanner {
  id: string;
  /** Key of the banner in the response. */
  placement_id: string;
  is_control: boolean;
  is_test_send: boolean;
  /** Unix seconds; -1 means never. */
  expires_at: number;
  properties: Record<string, { type: string; value: unknown }> | null;
}

/** `expires_at` of a banner without an expiry. */
export const NEVER_EXPIRES = -1;

/** Content for a placement. Plain data that can be cached, cloned and posted between tabs. */
export interface Banner {
  /** ID of the banner in tracked events; not the placement's ID. */
  id: string;
  placementId: string;
  /** Whether the user is in the control group. If so, nothing is rendered, but the impression counts. */
  isControl: boolean;
  /** Whether the banner is a test send, which is kept only in memory and excluded from reports. */
  isTestSend: boolean;
  /** Unix milliseconds; `null` if the banner never expires. */
  expiresAt: number | null;
  /** Properties in the wire format. Unknown types are kept unchanged; the getters return `null` for them. */
  properties: Record<string, BannerProperty | { type: string; value: JsonValue }>;
}

/** Converts a banner from the wire format. */
export const toBanner = (wire: WireBanner): Banner => ({
  id: wire.id,
  placementId: wire.placement_id,
  isControl: wire.is_control,
  isTestSend: wire.is_test_send,
  expiresAt: wire.expires_at === NEVER_EXPIRES ? null : wire.expires_at * 1_000,
  // Not validated: the getters of `properties.ts` check the type of each property.
  properties: (wire.properties ?? {}) as Banner['properties'],
});

/**
 * Server-rendered banners, passed to the browser as JSON. Contains one user's data, so a page that contains it must not be cached
 * for other users.
 */
export interface BannerBootstrap {
  /** Version of the format. */
  version: 1;
  appId: string;
  userId: string;
  /** Time of the request in Unix milliseconds, by the requesting server's clock. */
  fetchedAtMs: number;
  /**
   * Banners by placement. `null` if no banner. A placement is missing if it has no response or a test send, which the browser
   * requests itself because it is never stored.
   */
  banners: Record<string, Banner | null>;
}
