/** The six property types a banner may carry. A type outside this list is kept raw and read by no getter. */
export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'image', 'jsonobject', 'datetime'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** The value that each type has. */
export interface PropertyValues extends Record<PropertyType, unknown> {
  string: string;
  number: number;
  boolean: boolean;
  /** A URL. */
  image: string;
  jsonobject: Record<string, unknown>;
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
  properties: Record<string, BannerProperty | { type: string; value: unknown }>;
}

/** A banner as the service answers it, in the client's words. */
export const toBanner = (wire: WireBanner): Banner => ({
  id: wire.id,
  placementId: wire.placement_id,
  isControl: wire.is_control,
  isTestSend: wire.is_test_send,
  expiresAt: wire.expires_at === NEVER_EXPIRES ? null : wire.expires_at * 1_000,
  properties: wire.properties ?? {},
});
