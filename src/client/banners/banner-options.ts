import { chosenOptions, UNBOUNDED } from '../first/chosen-options.ts';
import type { Notify } from '../notice.ts';
import type { BannerOptions } from '../options.ts';

const DEFAULTS: BannerOptions = {
  refreshCapacity: 5,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 30 * 60_000,
  impressionScope: 'session',
};

const YEAR_MS = 365 * 24 * 60 * 60_000;

const RULES: Parameters<typeof chosenOptions<BannerOptions>>[4] = {
  refreshCapacity: [0, UNBOUNDED],
  refreshIntervalMs: [1, YEAR_MS],
  impressionScope: ['session', 'tab'],
};

/** The host's choices over the defaults. */
export const bannerOptions = (chosen: Partial<BannerOptions> | undefined, notify: Notify): BannerOptions =>
  chosenOptions('banners.', DEFAULTS, chosen, notify, RULES);
