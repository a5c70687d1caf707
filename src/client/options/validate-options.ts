import type { Notify } from '../notices.ts';
import type { CONSENT, OnInvalidOption, resolveOptions } from './option-schema.ts';
import type { Settings } from './options.ts';

/** Prefix of the server keys that `placard init` and the demo create. */
const SERVER_KEY = /^(placard|demo).server/;

interface Tools {
  resolveOptions: typeof resolveOptions;
  CONSENT: typeof CONSENT;
}

const report = (notify: Notify, option: string, expected: string): void =>
  notify({ type: 'failed', kind: 'config', message: `Option "${option}" must be ${expected}` });

/** Creates the function that emits a `failed` notice of kind `config` with the option and the expected value. */
export const createReportInvalid =
  (notify: Notify): OnInvalidOption =>
  (option, rule = ['']) => {
    const [usual, min = 1, max = Infinity] = rule;
    const range = `a number from ${min} ${max === Infinity ? 'up' : `to ${max}`}`;
    const expected = typeof usual === 'number' ? range : rule.join(' or ') || 'left out: it is unknown';
    report(notify, option, expected);
  };

/** Reports invalid options as a notice and in the console. */
export const validateOptions = (
  settings: Settings,
  { resolveOptions, CONSENT }: Tools,
  notify: Notify,
): void => {
  const { endpoint, logName, apiKey, appId, appVersion, userId, deviceId, platform, ...others } = settings;
  const { onEventRejected, delivery, banners, bootstrap, debug, shouldShow, use, ...unknown } = others;
  const print: Notify = (notice) => {
    if (notice.type === 'failed') console.error(`Placard: ${notice.message}`);
    notify(notice);
  };
  const expect = (isRight: boolean, option: string, expected: string): void => {
    if (!isRight) report(print, option, expected);
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
  resolveOptions('', { consent: CONSENT }, unknown, createReportInvalid(print));
};
