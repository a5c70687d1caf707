import { expect, test } from 'vitest';
import { bannerOptions } from '../../../src/client/banners/banner-options.ts';

const DEFAULTS = {
  refreshCapacity: 5,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 1_800_000,
  impressionScope: 'session',
};

test('what is not given has a default, what is given stays', () => {
  expect(bannerOptions()).toEqual(DEFAULTS);
  expect(bannerOptions({ refreshCapacity: 9 })).toEqual({ ...DEFAULTS, refreshCapacity: 9 });
});

test('undefined is no choice: a host passes on what it may not have', () => {
  const chosen = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, undefined]));
  expect(bannerOptions(chosen)).toEqual(DEFAULTS);
});
