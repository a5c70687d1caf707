import * as z from 'zod/mini';
import { wireBanner } from './banner.ts';
import { MAX_APP_VERSION_CHARACTERS } from './limits.ts';

export const SYNC_PATH = '/v1/device-messaging/banners/sync';

/** Body of `POST /v1/device-messaging/banners/sync`. */
export const syncRequest = z.object({
  external_user_id: z.string().check(z.minLength(1)),
  app_id: z.string().check(z.minLength(1)),
  app_version: z.string().check(z.minLength(1), z.maxLength(MAX_APP_VERSION_CHARACTERS)),
  placements: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  device_id: z.optional(z.string()),
});
export type SyncRequest = z.infer<typeof syncRequest>;

/** 200: a requested key that is missing was not answered, `null` means nobody is eligible. */
export const syncAnswer = z.object({ banners: z.record(z.string(), z.nullable(wireBanner)) });
export type SyncAnswer = z.infer<typeof syncAnswer>;
