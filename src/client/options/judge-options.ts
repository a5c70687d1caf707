import type { Notify } from '../notices.ts';
import { chosenOptions, notifyWrong } from './choices.ts';
import type { Settings } from './options.ts';

/** As `placard init` makes them, and the demo has one. */
const SERVER_KEY = /^(placard|demo).server/;

/**
 * Reports what the first paint has no room to judge. It is a mistake in the page's code, so the console says it as well, with
 * `debug` or without.
 */
export const judgeOptions = (settings: Settings, notify: Notify): void => {
  const { endpoint, logName, apiKey, appId, appVersion, userId, deviceId, platform, ...others } = settings;
  const { correct, delivery, userToken, visitors, banners, bootstrap, debug, ...unknown } = others;
  const report: Notify = (notice) => {
    if (notice.type === 'failed') console.error(`Placard: ${notice.message}`);
    notify(notice);
  };
  const expect = (isRight: boolean, option: string, expected: string): void => {
    if (!isRight) notifyWrong(report, option, expected);
  };
  // Anyone who opens the page could read and change every profile with it.
  expect(!SERVER_KEY.test(String(apiKey)), 'apiKey', 'a client key: this is a server key');
  expect(userToken == null || typeof userToken === 'function', 'userToken', 'a function');
  const isOurs = !bootstrap || (bootstrap.version === 1 && bootstrap.appId === appId);
  expect(isOurs, 'bootstrap', 'of this app and of version 1');
  // With the consent, which alone of what is left over is known.
  chosenOptions('', { consent: ['enabled', 'disabled', 'pending'] }, unknown, report);
};
