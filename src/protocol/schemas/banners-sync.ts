import * as z from 'zod/mini';
import type { WireBanner } from '../banner.ts';
import type { SyncRequest } from '../banners-sync.ts';
import { ERROR_MESSAGES, notValid } from '../errors.ts';
import { MAX_BANNER_DEVICE_ID_BYTES, MAX_PLACEMENT_ID_CHARACTERS, MAX_PLACEMENTS } from '../limits.ts';
import { fitsBytes, fitsCharacters, isStorableText } from '../text.ts';
import { described, envelope, missingOrWrong, optionalTextMember } from './body.ts';

const MAX_RELEASE_BYTES = 64;
const SHOWN_ERROR = notValid('shown');

const property = z.object({
  type: z.string().check(described('`string`, `number`, `boolean`, `image`, `jsonobject` or `datetime`.')),
  value: z.unknown().check(described('Of that type; a `datetime` is Unix milliseconds.')),
});

/** Banner in the wire format of `banners/sync`. */
export const wireBanner: z.ZodMiniType<WireBanner> = z.object({
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
    .check(described('Properties by name; `null` for a control banner.')),
});

const error = notValid('placements');
const placementId = z.string({ error }).check(
  z.refine((id) => id !== '' && fitsCharacters(id, MAX_PLACEMENT_ID_CHARACTERS) && isStorableText(id), {
    error,
  }),
  z.meta({ minLength: 1, maxLength: MAX_PLACEMENT_ID_CHARACTERS }),
);

/** Placement IDs, reduced to the first ten distinct ones. */
export const placements = (description: string) =>
  z.pipe(
    z
      .array(placementId, { error: missingOrWrong('placements', (value) => value != null) })
      .check(z.minLength(1, { error }), described(description)),
    z.transform((ids) => [...new Set(ids)].slice(0, MAX_PLACEMENTS)),
  );

export const deviceId = (description: string) =>
  optionalTextMember('device_id', (id) => fitsBytes(id, MAX_BANNER_DEVICE_ID_BYTES), {
    description,
    maxLength: MAX_BANNER_DEVICE_ID_BYTES,
  });

/** Body of `POST /v1/device-messaging/banners/sync`. */
export const syncRequest: z.ZodMiniType<SyncRequest> = z.object(
  {
    ...envelope,
    placements: placements(
      `IDs of placements; the first ${MAX_PLACEMENTS} different ones are in the response.`,
    ),
    device_id: deviceId(
      `Device of the user, at most ${MAX_BANNER_DEVICE_ID_BYTES} bytes; texts may print it.`,
    ),
    release: optionalTextMember('release', (text) => fitsBytes(text, MAX_RELEASE_BYTES), {
      description:
        '`release` of the last response. If it is still current, `banners` of the response is empty. Placard extension.',
      maxLength: MAX_RELEASE_BYTES,
    }),
    shown: z
      .optional(
        z
          .array(z.string({ error: SHOWN_ERROR }), { error: SHOWN_ERROR })
          .check(z.maxLength(MAX_PLACEMENTS, { error: SHOWN_ERROR })),
      )
      .check(
        described(
          'IDs of banners on the page, which `stopped` of the response refers to. Placard extension.',
        ),
      ),
  },
  { error: ERROR_MESSAGES.notAnObject },
);

/** Response 200 of `banners/sync`. `release` and `poll_seconds` are set if pages of the workspace check for changes. A missing key means no response for that placement. */
export const syncResponse = z.object({
  banners: z.record(z.string(), z.nullable(wireBanner)).check(
    z.refine((banners) =>
      Object.entries(banners).every(([key, banner]) => !banner || banner.placement_id === key),
    ),
    described('Banners by placement; `null` if the user gets none.'),
  ),
  release: z
    .optional(z.string())
    .check(
      described('Identifies the current campaigns; only with `banner_poll_seconds`. Placard extension.'),
    ),
  stopped: z
    .optional(z.array(z.string()))
    .check(described('Banners of `shown` whose campaign no longer runs. Placard extension.')),
  poll_seconds: z
    .optional(z.int())
    .check(described('Seconds until the next check of a visible page. Placard extension.')),
});
export type SyncResponse = z.infer<typeof syncResponse>;
