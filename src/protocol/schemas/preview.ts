import * as z from 'zod/mini';
import type { PreviewAnswer, PreviewRequest } from '../preview.ts';
import { wireBanner } from './banner.ts';

/** Body of `POST /placard/preview`. */
export const previewRequest = z.object({ token: z.string() }) satisfies z.ZodMiniType<PreviewRequest>;

/** 200 of it. */
export const previewAnswer = z.object({
  campaign_name: z.string(),
  banners: z.record(z.string(), wireBanner),
}) satisfies z.ZodMiniType<PreviewAnswer>;
