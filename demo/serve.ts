import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { tuneProcess } from '../src/service/index.ts';
import { announcement, reloaded, startProblem } from './server/announce.ts';
import { readSettings } from './server/settings.ts';
import { startDemo } from './server/start-demo.ts';
import { createStaticFiles } from './server/static-files.ts';

const LOOK_MS = 500;

/**
 * Calls once where the process that started this one has ended. npm passes a signal on to the shell alone that it runs
 * scripts in, and that may end without passing it on: what the script started would hold its port for ever.
 */
const whenParentIsGone = (call: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, LOOK_MS).unref();
};

/** `npm start`: the built demo and the service, until it is asked to stop. */
tuneProcess();
// Warnings and errors: the lines of every request would bury what is printed for people.
const log = pino({ base: null, level: process.env['LOG_LEVEL'] ?? 'warn' });

try {
  const settings = readSettings(process.env, process.argv.slice(2));
  if (!existsSync(join(settings.built, 'index.html'))) {
    throw new Error('The demo is not built yet: "npm start" builds it and starts it.');
  }
  const listening = await startDemo({
    ...settings,
    log,
    onReload: (problem) => console.log(reloaded(problem)),
    pages: createStaticFiles(settings.built),
  });
  console.log(announcement(listening));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void listening.stop());
  }
  // Without npm somebody may have left it running on purpose.
  if (process.env['npm_lifecycle_event'] !== undefined) whenParentIsGone(() => void listening.stop());
} catch (error) {
  console.error(startProblem(error) ?? error);
  process.exitCode = 1;
}
