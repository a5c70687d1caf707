import * as z from 'zod/mini';
import { wireBanner, wireProperty } from './banner.ts';
import { mapOf } from './map-of.ts';

export const SYNC_PATH = '/v1/device-messaging/banners/sync';

/** 200: a requested key that is missing was not answered, `null` means nobody is eligible. */
export const syncAnswer = z.object({ banners: mapOf(z.nullable(wireBanner)) });
export type SyncAnswer = z.infer<typeof syncAnswer>;

/** What a client reads of the answer at once: each banner by itself, so that one that is wrong costs no other. */
export const syncAnswerParts = z.object({ banners: mapOf(z.unknown()) });

/** What is no property at all becomes one without a type, which no getter reads. */
const readProperty = z.catch(wireProperty, ({ value }) => ({ type: '', value }));

/** One member of the answer's `banners`. */
export const syncAnswerPart = z.nullable(
  z.object({ ...wireBanner.shape, properties: z.nullable(mapOf(readProperty)) }),
);
