import type { Banner } from './banner.ts';

/**
 * What a server that renders pages hands to the browser, as JSON: the banners that it has drawn into the page. It is of
 * one user, so a page that holds it must not be cached for others.
 */
export interface BannerBootstrap {
  /** Shape of the object. */
  version: 1;
  appId: string;
  userId: string;
  /** When the banners were asked for, in Unix milliseconds of the server that asked. */
  askedAtMs: number;
  /**
   * By placement. `null`: there is no banner. A placement that is missing was not answered, or has a test send, which stays
   * out of stores and comes with the browser's own request.
   */
  banners: Record<string, Banner | null>;
}
