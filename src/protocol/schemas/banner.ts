import * as z from 'zod/mini';
import type { WireBanner } from '../banner.ts';

const property = z.object({ type: z.string(), value: z.unknown() });

/** One piece of content for a placement, as `banners/sync` answers it. */
export const wireBanner = z.object({
  id: z.string().check(z.minLength(1)),
  placement_id: z.string(),
  is_control: z._default(z.boolean(), false),
  is_test_send: z._default(z.boolean(), false),
  /** Unix seconds; -1 means never. */
  expires_at: z.number(),
  properties: z.nullable(z.record(z.string(), property)),
}) satisfies z.ZodMiniType<WireBanner>;
