import * as z from 'zod/mini';
import { ERROR_MESSAGES } from '../errors.ts';
import { wireBanner } from './banners-sync.ts';
import { described } from './body.ts';

/** Body of `POST /placard/preview`. */
export const previewRequest = z.object(
  {
    token: z
      .string({ error: "'token' must be the text that the preview link carries" })
      .check(described('Token of a preview link, from its parameter `placard_preview`.')),
  },
  { error: ERROR_MESSAGES.notAnObject },
);

/** Response 200: the draft as rendered for its persona, by placement. Each banner is a test send. */
export const previewResult = z.object({
  campaign_name: z.string().check(described('Name of the campaign that is previewed.')),
  banners: z
    .record(z.string(), wireBanner)
    .check(described('Banners by placement, as in the response of a sync.')),
});
export type PreviewResult = z.infer<typeof previewResult>;
