import * as z from 'zod/mini';
import { wireBanner } from './banner.ts';
import { mapOf } from './map-of.ts';

export const SYNC_PATH = '/v1/device-messaging/banners/sync';

/** 200: a requested key that is missing was not answered, `null` means nobody is eligible. */
export const syncAnswer = z.object({ banners: mapOf(z.nullable(wireBanner)) });
export type SyncAnswer = z.infer<typeof syncAnswer>;
