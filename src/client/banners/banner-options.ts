import type { BannerOptions } from '../options.ts';

/** The host's choices over the defaults; `undefined` is no choice. */
export const bannerOptions = ({
  refreshCapacity = 5,
  refreshIntervalMs = 180_000,
  sessionTimeoutMs = 30 * 60_000,
  impressionScope = 'session',
}: Partial<BannerOptions> = {}): BannerOptions => ({
  refreshCapacity,
  refreshIntervalMs,
  sessionTimeoutMs,
  impressionScope,
});
