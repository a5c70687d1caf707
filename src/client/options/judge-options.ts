import type { Notify } from '../notices.ts';
import { chosenOptions } from './choices.ts';
import type { Settings } from './read-options.ts';

/** As `placard init` makes them, and the demo has one. */
const SERVER_KEY = /^(placard|demo).server/;

/**
 * Reports what the first paint has no room to judge. It is a mistake in the page's code, so the console says it as well, with
 * `debug` or without.
 */
export const judgeOptions = (settings: Settings, notify: Notify): void => {
  const { endpoint, logName, apiKey, appId, appVersion, userId, deviceId, platform, ...others } = settings;
  const {
    consent,
    correct,
    delivery,
    userToken,
    visitors,
    banners,
    bootstrap,
    debug,
    mayShow,
    placementsBySelector,
    ...unknown
  } = others;
  const report: Notify = (notice) => {
    if (notice.type === 'failed') console.error(`Placard: ${notice.message}`);
    notify(notice);
  };
  const expect = (isRight: boolean, option: string, expected: string): void => {
    const message = `Option "${option}" must be ${expected}`;
    if (!isRight) report({ type: 'failed', kind: 'config', message });
  };
  // Anyone who opens the page could read and change every profile with it.
  expect(!SERVER_KEY.test(String(apiKey)), 'apiKey', 'a client key: this is a server key');
  expect(userToken == null || typeof userToken === 'function', 'userToken', 'a function');
  expect(mayShow == null || typeof mayShow === 'function', 'mayShow', 'a function');
  // A hosted instance has no such list.
  const isList =
    Object(placementsBySelector) === placementsBySelector && !/\.braze\.(com|eu)$/.test(endpoint);
  expect(
    placementsBySelector == null || isList,
    'placementsBySelector',
    'templates by name, with an "endpoint"',
  );
  const isOurs = !bootstrap || (bootstrap.version === 1 && bootstrap.appId === appId);
  expect(isOurs, 'bootstrap', 'of this app and of version 1');
  chosenOptions<object>('', { consent }, { ...unknown, consent }, report, {
    consent: ['enabled', 'disabled', 'pending'],
  } as object);
};
