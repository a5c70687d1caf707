/** What `banners/sync` answers of one banner. */
export interface BannerText {
  id: string;
  /** The placement's ID as JSON. */
  placement: string;
  isControl: boolean;
  isTestSend: boolean;
  /** Unix seconds, -1 for never. */
  expiresAt: number;
  /** JSON; `null` of a control banner. */
  properties: string | null;
}

/** Written by hand: most of it is text that never changes, which `JSON.stringify` would read letter by letter. */
export const bannerText = ({
  id,
  placement,
  isControl,
  isTestSend,
  expiresAt,
  properties,
}: BannerText): string =>
  `{"id":"${id}","placement_id":${placement},"is_control":${isControl},"is_test_send":${isTestSend}` +
  `,"expires_at":${expiresAt},"properties":${properties}}`;
