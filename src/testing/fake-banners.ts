import { type BannerProperty, NEVER_EXPIRES, type SyncRequest, type WireBanner } from '../protocol/index.ts';

type Plain = string | number | boolean | Record<string, unknown>;

const isTyped = (value: unknown): value is BannerProperty =>
  typeof value === 'object' && value !== null && 'type' in value && 'value' in value;

const typed = (value: Plain | BannerProperty): BannerProperty => {
  if (isTyped(value)) return value;
  if (typeof value === 'string') return { type: 'string', value };
  if (typeof value === 'number') return { type: 'number', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  return { type: 'jsonobject', value };
};

/**
 * A banner as the service answers it. Plain property values get their type; images and dates are given whole, as
 * `{ type: 'image', value: 'https://…' }`.
 */
export const aBanner = (
  placementId: string,
  properties: Record<string, Plain | BannerProperty> = {},
  more: Partial<WireBanner> = {},
): WireBanner => ({
  id: `banner-of-${placementId}`,
  placement_id: placementId,
  is_control: false,
  is_test_send: false,
  expires_at: NEVER_EXPIRES,
  properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, typed(value)])),
  ...more,
});

/** What the fake answers for a placement: a fixed banner, `null` for none, or the result of a function of the request. */
export type BannerSource = WireBanner | null | ((request: SyncRequest) => WireBanner | null);
