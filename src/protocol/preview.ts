import type { WireBanner } from './banner.ts';

/** Placard extension. */
export const PREVIEW_PATH = '/placard/preview';
/**
 * Parameter of the preview token in the URL fragment. Browsers do not send fragments, so it is in no log of the site and in no
 * `Referer`.
 */
export const PREVIEW_PARAMETER = 'placard_preview';

/** Body of `POST /placard/preview`. */
export interface PreviewRequest {
  token: string;
}

/** Response 200: the draft as rendered for its persona, in each of its placements. Each banner is a test send. */
export interface PreviewAnswer {
  campaign_name: string;
  banners: Record<string, WireBanner>;
}
