import * as z from 'zod/mini';
import type { SyncAnswer, SyncRequest } from '../banners-sync.ts';
import { FATAL, notValid } from '../error-codes.ts';
import { MAX_BANNER_DEVICE_ID_BYTES, MAX_PLACEMENT_ID_CHARACTERS, MAX_PLACEMENTS } from '../limits.ts';
import { fitsBytes, fitsCharacters, isStorableText } from '../text.ts';
import { wireBanner } from './banner.ts';
import { envelope } from './envelope.ts';
import { described, missingOrWrong, optionalTextMember } from './text.ts';

const error = notValid('placements');
const placementId = z.string({ error }).check(
  z.refine((id) => id !== '' && fitsCharacters(id, MAX_PLACEMENT_ID_CHARACTERS) && isStorableText(id), {
    error,
  }),
  z.meta({ minLength: 1, maxLength: MAX_PLACEMENT_ID_CHARACTERS }),
);

/** IDs of placements. Gives the first ten different ones: no others are answered. */
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
export const syncRequest = z.object(
  {
    ...envelope,
    placements: placements(`IDs of placements; the first ${MAX_PLACEMENTS} different ones are answered.`),
    device_id: deviceId(
      `Device of the user, at most ${MAX_BANNER_DEVICE_ID_BYTES} bytes; texts may print it.`,
    ),
  },
  { error: FATAL.notAnObject },
) satisfies z.ZodMiniType<SyncRequest>;

/** 200 of `banners/sync`. */
export const syncAnswer = z.object({
  banners: z.record(z.string(), z.nullable(wireBanner)).check(
    z.refine((banners) =>
      Object.entries(banners).every(([key, banner]) => !banner || banner.placement_id === key),
    ),
    described('By placement: its banner, or `null` where there is none for this user.'),
  ),
}) satisfies z.ZodMiniType<SyncAnswer>;
