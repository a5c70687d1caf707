import * as z from 'zod/mini';
import { wireBanner } from './banner.ts';

/** Ours: no other server has it. */
export const PREVIEW_PATH = '/placard/preview';
/** The member of a page's query that carries a preview's token. */
export const PREVIEW_QUERY = 'placard_preview';

export const previewRequest = z.object({ token: z.string() });
export type PreviewRequest = z.infer<typeof previewRequest>;

/** 200: the draft as its persona would get it, in every placement it is for. Each banner is a test send. */
export const previewAnswer = z.object({
  campaign_name: z.string(),
  banners: z.record(z.string(), wireBanner),
});
export type PreviewAnswer = z.infer<typeof previewAnswer>;
