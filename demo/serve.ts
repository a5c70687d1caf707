import { pino } from 'pino';
import { announcement, startProblem } from './server/announce.ts';
import { readSettings } from './server/settings.ts';
import { startDemo } from './server/start-demo.ts';
import { createStaticFiles } from './server/static-files.ts';

/** `npm start`: the built demo and the service, until it is asked to stop. */
const settings = readSettings(process.env);
// Warnings and errors: the lines of every request would bury what is printed for people.
const log = pino({ base: null, level: process.env['LOG_LEVEL'] ?? 'warn' });

try {
  const listening = await startDemo({ ...settings, log, pages: createStaticFiles(settings.built) });
  console.log(announcement(listening.url));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void listening.stop());
  }
} catch (error) {
  const problem = startProblem(error, settings.port);
  if (problem === null) throw error;
  console.error(problem);
  process.exitCode = 1;
}
