import type { JsonValue } from './json-value.ts';

/** The six property types a banner may carry. A type outside this list is kept raw and read by no getter. */
export type PropertyType = 'string' | 'number' | 'boolean' | 'image' | 'jsonobject' | 'datetime';

/** The value that each type has. */
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

/** One property as the wire carries it. */
export type BannerProperty = {
  [Type in PropertyType]: { type: Type; value: PropertyValues[Type] };
}[PropertyType];

/** One piece of content for a placement, as `banners/sync` answers it. */
export interface WireBanner {
  id: string;
  /** The key under which the answer has it. */
  placement_id: string;
  is_control: boolean;
  is_test_send: boolean;
  /** Unix seconds; -1 means never. */
  expires_at: number;
  properties: Record<string, { type: string; value: unknown }> | null;
}

/** `expires_at` of a banner that never expires. */
export const NEVER_EXPIRES = -1;

/** One piece of content for a placement. Plain data: it can be cached, cloned and posted between tabs. */
export interface Banner {
  /** What a tracked event names; not the placement's ID. */
  id: string;
  placementId: string;
  /** A member of the control group: nothing is drawn, the impression still counts. */
  isControl: boolean;
  /** A test send is kept in memory only and left out of reports. */
  isTestSend: boolean;
  /** Unix milliseconds, `null` for never. */
  expiresAt: number | null;
  /** As the wire carries them. A property of an unknown type is kept raw; the getters answer `null` for it. */
  properties: Record<string, BannerProperty | { type: string; value: JsonValue }>;
}

/** A banner as the service answers it, in the client's words. */
export const toBanner = (wire: WireBanner): Banner => ({
  id: wire.id,
  placementId: wire.placement_id,
  isControl: wire.is_control,
  isTestSend: wire.is_test_send,
  expiresAt: wire.expires_at === NEVER_EXPIRES ? null : wire.expires_at * 1_000,
  // Parsed from JSON.
  properties: (wire.properties ?? {}) as Banner['properties'],
});

/**
 * What a server that renders pages hands to the browser, as JSON: the banners that it has drawn into the page. It is of
 * one user, so a page that holds it must not be cached for others.
 */
export interface BannerBootstrap {
  /** Shape of the object. */
  version: 1;
  appId: string;
  userId: string;
  /** When the banners were asked for, in Unix milliseconds of the server that asked. */
  askedAtMs: number;
  /**
   * By placement. `null`: there is no banner. A placement that is missing was not answered, or has a test send, which stays
   * out of stores and comes with the browser's own request.
   */
  banners: Record<string, Banner | null>;
}
