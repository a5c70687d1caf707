import type { WireBanner } from './banner.ts';

/** Ours: no other server has it. */
export const PREVIEW_PATH = '/placard/preview';
/** The member of a page's query that carries a preview's token. */
export const PREVIEW_QUERY = 'placard_preview';

/** Body of `POST /placard/preview`. */
export interface PreviewRequest {
  token: string;
}

/** 200: the draft as its persona would get it, in every placement it is for. Each banner is a test send. */
export interface PreviewAnswer {
  campaign_name: string;
  banners: Record<string, WireBanner>;
}
