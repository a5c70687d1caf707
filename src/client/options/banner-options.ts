import type { Notify } from '../notices.ts';
import { chosenOptions, UNBOUNDED } from './chosen-options.ts';

/** When banners are refreshed, and when an impression counts. */
export interface BannerOptions {
  /** Explicit refreshes a session starts with. Default 5. */
  refreshCapacity: number;
  /** Milliseconds until one more is granted. Default 180,000. */
  refreshIntervalMs: number;
  /** A session ends after this long without a visible page, in milliseconds. Default 30 minutes. */
  sessionTimeoutMs: number;
  /** Whether one impression per banner counts per session (all tabs) or per tab. Default `'session'`. */
  impressionScope: 'session' | 'tab';
}

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
