import type { Notify } from '../notices.ts';
import type { CONSENT, reportInvalidOption, resolveOptions } from './option-schema.ts';
import type { Settings } from './options.ts';

/** Prefix of the server keys that `placard init` and the demo create. */
const SERVER_KEY = /^(placard|demo).server/;

/** Functions and values of the deferred chunk. */
interface Tools {
  resolveOptions: typeof resolveOptions;
  reportInvalidOption: typeof reportInvalidOption;
  CONSENT: typeof CONSENT;
}

/** Reports invalid options as a notice and in the console. */
export const validateOptions = (
  settings: Settings,
  { resolveOptions, reportInvalidOption, CONSENT }: Tools,
  notify: Notify,
): void => {
  const { endpoint, logName, apiKey, appId, appVersion, userId, deviceId, platform, ...others } = settings;
  const { onEventRejected, delivery, banners, bootstrap, debug, shouldShow, use, ...unknown } = others;
  const report: Notify = (notice) => {
    if (notice.type === 'failed') console.error(`Placard: ${notice.message}`);
    notify(notice);
  };
  const expect = (isRight: boolean, option: string, expected: string): void => {
    if (!isRight) reportInvalidOption(report, option, expected);
  };
  // With a server key, any visitor of the page could read and change every profile.
  expect(!SERVER_KEY.test(String(apiKey)), 'apiKey', 'a client key: this is a server key');
  const { userTokens } = use;
  expect(!userTokens || typeof userTokens.provide === 'function', 'use: [userTokens()]', 'given a function');
  expect(shouldShow == null || typeof shouldShow === 'function', 'shouldShow', 'a function');
  // A hosted instance has no placement list.
  const { hooks } = use.selectors ?? { hooks: {} };
  const isList = Object(hooks) === hooks && !(use.selectors && /\.braze\.(com|eu)$/.test(endpoint));
  expect(isList, 'use: [selectors()]', 'given templates by name, with an "endpoint"');
  const isOurs = !bootstrap || (bootstrap.version === 1 && bootstrap.appId === appId);
  expect(isOurs, 'bootstrap', 'of this app and of version 1');
  // Reports unknown options. `consent` is the only known one among the rest.
  resolveOptions('', { consent: CONSENT }, unknown, report);
};
