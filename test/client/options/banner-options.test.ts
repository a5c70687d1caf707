import { expect, test } from 'vitest';
import type { Notice } from '../../../src/client/index.ts';
import { bannerOptions } from '../../../src/client/options/option-schema.ts';
import { createReportInvalid } from '../../../src/client/options/validate-options.ts';

const DEFAULTS = {
  refreshCapacity: 5,
  refreshIntervalMs: 180_000,
  sessionTimeoutMs: 1_800_000,
  impressionScope: 'session',
};

const untold = (option: string) => expect.fail(option);

test('uses defaults for missing options, and keeps given ones', () => {
  expect(bannerOptions(undefined, untold)).toEqual(DEFAULTS);
  expect(bannerOptions({ refreshCapacity: 0 }, untold)).toEqual({ ...DEFAULTS, refreshCapacity: 0 });
});

test('treats undefined as missing', () => {
  const chosen = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, undefined]));
  expect(bannerOptions(chosen, untold)).toEqual(DEFAULTS);
});

test.each([
  [{ refreshCapacity: -1 }, '"banners.refreshCapacity" must be a number from 0 up'],
  [{ refreshIntervalMs: 0 }, '"banners.refreshIntervalMs" must be a number from 1 to 31536000000'],
  [
    { refreshIntervalMs: Number.POSITIVE_INFINITY },
    '"banners.refreshIntervalMs" must be a number from 1 to 31536000000',
  ],
  [{ sessionTimeoutMs: '30 min' }, '"banners.sessionTimeoutMs" must be a number from 1 up'],
  [{ impressionScope: 'page' }, '"banners.impressionScope" must be session or tab'],
  [{ impressionscope: 'tab' }, '"banners.impressionscope" must be left out: it is unknown'],
])('reports an invalid option, such as %j, by name and uses the default', (chosen, problem) => {
  const reported: Notice[] = [];
  expect(
    bannerOptions(
      chosen as never,
      createReportInvalid((notice) => reported.push(notice)),
    ),
  ).toEqual(DEFAULTS);
  expect(reported).toEqual([{ type: 'failed', kind: 'config', message: `Option ${problem}` }]);
});
