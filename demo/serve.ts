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
 * Calls back once the parent process has ended. npm forwards signals only to the shell that runs scripts. If the shell exits
 * without forwarding them, the server would keep its port.
 */
const whenParentIsGone = (call: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    call();
  }, LOOK_MS).unref();
};

/** `npm start`: serves the built demo and the service until it is stopped. */
tuneProcess();
// Logs only warnings and errors, because request logs would hide the announcement.
const log = pino({ base: null, level: process.env['LOG_LEVEL'] ?? 'warn' });

try {
  const settings = readSettings(process.env, process.argv.slice(2));
  if (!existsSync(join(settings.built, 'index.html'))) {
    throw new Error('The demo is not built: run "npm start".');
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
  // Without npm, the demo may run in the background on purpose.
  if (process.env['npm_lifecycle_event'] !== undefined) whenParentIsGone(() => void listening.stop());
} catch (error) {
  console.error(startProblem(error) ?? error);
  process.exitCode = 1;
}
