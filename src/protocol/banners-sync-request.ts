// Apart from the answer, so that a browser, which only reads answers, does not carry the checks of a request.
import * as z from 'zod/mini';
import { MAX_APP_VERSION_CHARACTERS } from './limits.ts';

/** Body of `POST /v1/device-messaging/banners/sync`. */
export const syncRequest = z.object({
  external_user_id: z.string().check(z.minLength(1)),
  app_id: z.string().check(z.minLength(1)),
  app_version: z.string().check(z.minLength(1), z.maxLength(MAX_APP_VERSION_CHARACTERS)),
  placements: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
  device_id: z.optional(z.string()),
});
export type SyncRequest = z.infer<typeof syncRequest>;
