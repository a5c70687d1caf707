import type { Fail } from './notices.ts';
import type { Settings } from './options/options.ts';

/** Key on `globalThis`, because hot reload and a second copy of the package evaluate this module again. */
const RUNNING = Symbol.for('placard.running');

/**
 * Registers the client on this page until the returned function is called. A second client of the same app emits a `config`
 * notice and a console error, because it would sync and count twice.
 */
export const registerClient = ({ logName, appId }: Settings, fail: Fail): (() => void) => {
  const page = globalThis as { [RUNNING]?: string[] };
  page[RUNNING] ??= [];
  const running = page[RUNNING];
  if (running.includes(logName)) {
    const message = `Another client of app "${appId}" is running on this page: call stop() on it first, also before a hot reload`;
    console.error(`Placard: ${message}`);
    fail('config', message);
  }
  running.push(logName);
  return () => void running.splice(running.indexOf(logName), 1);
};
