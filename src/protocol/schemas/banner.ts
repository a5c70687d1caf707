import * as z from 'zod/mini';
import type { WireBanner } from '../banner.ts';
import { described } from './text.ts';

const property = z.object({
  type: z.string().check(described('`string`, `number`, `boolean`, `image`, `jsonobject` or `datetime`.')),
  value: z.unknown().check(described('Of that type; a `datetime` is Unix milliseconds.')),
});

/** One piece of content for a placement, as `banners/sync` answers it. */
export const wireBanner = z.object({
  id: z.string().check(z.minLength(1), described('ID of the banner, which its events name.')),
  placement_id: z.string().check(described('The placement.')),
  is_control: z
    ._default(z.boolean(), false)
    .check(described('`true`: the user is held out. Show nothing, and record the impression.')),
  is_test_send: z
    ._default(z.boolean(), false)
    .check(described('`true`: the user is a test user of the campaign. Events are not counted.')),
  expires_at: z
    .number()
    .check(described('When the page must stop showing it, in Unix seconds; -1 is never.')),
  properties: z
    .nullable(z.record(z.string(), property))
    .check(described('What the banner holds, by name; `null` of a control.')),
}) satisfies z.ZodMiniType<WireBanner>;
