import * as z from 'zod/mini';
import { mapOf } from './map-of.ts';

/** The six property types a banner may carry. A type outside this list is kept raw and read by no getter. */
export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'image', 'jsonobject', 'datetime'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** One property as the wire carries it. `datetime` values are Unix milliseconds. */
export type BannerProperty =
  | { type: 'string'; value: string }
  | { type: 'number'; value: number }
  | { type: 'boolean'; value: boolean }
  | { type: 'image'; value: string }
  | { type: 'jsonobject'; value: Record<string, unknown> }
  | { type: 'datetime'; value: number };

/** What a client asks of a property: one wrong type must cost that property, not the whole answer. */
export const wireProperty = z.object({ type: z.string(), value: z.unknown() });

/** One piece of content for a placement, as `banners/sync` answers it. */
export const wireBanner = z.object({
  id: z.string(),
  placement_id: z.string(),
  is_control: z._default(z.boolean(), false),
  is_test_send: z._default(z.boolean(), false),
  /** Unix seconds; -1 means never. */
  expires_at: z.number(),
  properties: z.nullable(mapOf(wireProperty)),
});
export type WireBanner = z.infer<typeof wireBanner>;

/** `expires_at` of a banner that never expires. */
export const NEVER_EXPIRES = -1;
