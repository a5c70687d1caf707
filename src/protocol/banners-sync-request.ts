// Apart from the answer, so that a browser, which only reads answers, does not carry the checks of a request.
import * as z from 'zod/mini';
import {
  MAX_APP_VERSION_CHARACTERS,
  MAX_BANNER_DEVICE_ID_BYTES,
  MAX_EXTERNAL_USER_ID_BYTES,
} from './limits.ts';

/** Body of `POST /v1/device-messaging/banners/sync`. */
export const syncRequest = z.object({
  // The bounds in bytes are bounds in characters too.
  external_user_id: z.string().check(z.minLength(1), z.maxLength(MAX_EXTERNAL_USER_ID_BYTES)),
  app_id: z.string().check(z.minLength(1)),
  app_version: z.string().check(z.minLength(1), z.maxLength(MAX_APP_VERSION_CHARACTERS)),
  placements: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  device_id: z.optional(z.string().check(z.maxLength(MAX_BANNER_DEVICE_ID_BYTES))),
});
export type SyncRequest = z.infer<typeof syncRequest>;
