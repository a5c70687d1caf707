import type { Fail } from './notices.ts';

/** Emits a `config` notice and a console error for a second client of the same app, because it would sync and count twice. */
export const reportSecondClient = (appId: string, fail: Fail): void => {
  const message = `Another client of app "${appId}" is running on this page: call stop() on it first, also before a hot reload`;
  console.error(`Placard: ${message}`);
  fail('config', message);
};
