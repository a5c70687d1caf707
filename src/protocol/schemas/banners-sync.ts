import * as z from 'zod/mini';
import type { SyncAnswer } from '../banners-sync.ts';
import { MAX_BANNER_DEVICE_ID_BYTES, MAX_PLACEMENT_ID_CHARACTERS } from '../limits.ts';
import { readSyncRequest } from '../read-sync-request.ts';
import { wireBanner } from './banner.ts';
import { envelope } from './envelope.ts';
import { bytes, characters } from './text.ts';

/** Body of `POST /v1/device-messaging/banners/sync`. */
export const syncRequest = z
  .object({
    ...envelope,
    placements: z.array(characters(MAX_PLACEMENT_ID_CHARACTERS)).check(z.minLength(1)),
    device_id: z.nullish(bytes(MAX_BANNER_DEVICE_ID_BYTES, 0)),
  })
  .check(z.refine((body) => typeof readSyncRequest(body, () => true) !== 'string'));

/** 200 of `banners/sync`. */
export const syncAnswer = z.object({
  banners: z
    .record(z.string(), z.nullable(wireBanner))
    .check(
      z.refine((banners) =>
        Object.entries(banners).every(([key, banner]) => !banner || banner.placement_id === key),
      ),
    ),
}) satisfies z.ZodMiniType<SyncAnswer>;
