import type { WireBanner } from './banner.ts';

/** Ours: no other server has it. */
export const PREVIEW_PATH = '/placard/preview';
/**
 * The name of a preview's token in the fragment of a page's address. Browsers send no fragment: it is in no log of the
 * site and in no `Referer`.
 */
export const PREVIEW_PARAMETER = 'placard_preview';

/** Body of `POST /placard/preview`. */
export interface PreviewRequest {
  token: string;
}

/** 200: the draft as its persona would get it, in every placement it is for. Each banner is a test send. */
export interface PreviewAnswer {
  campaign_name: string;
  banners: Record<string, WireBanner>;
}
