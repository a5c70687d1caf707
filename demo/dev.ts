import { pino } from 'pino';
import { createServer } from 'vite';
import { announcement, startProblem } from './server/announce.ts';
import { readSettings } from './server/settings.ts';
import { startDemo } from './server/start-demo.ts';

/** `npm run dev`: like `npm start`, with live reload and without a content security policy. */
const log = pino({ base: null, level: process.env['LOG_LEVEL'] ?? 'info' });
const vite = await createServer({
  mode: 'demo',
  appType: 'mpa',
  server: { middlewareMode: true },
});

/** API paths, which Vite would otherwise handle as pages. */
const API =
  /^\/(v1|users|cdi|campaigns|segments|placard|healthz|readyz|metrics|images\/[0-9a-f]{64}\.\w+|openapi\.json|docs)(\/|\?|$)/;

try {
  const listening = await startDemo({
    ...readSettings(process.env, process.argv.slice(2)),
    log,
    pages: (request, response) => {
      if (API.test(request.url ?? '/')) return false;
      vite.middlewares(request, response);
      return true;
    },
  });
  console.log(announcement(listening));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void Promise.all([vite.close(), listening.stop()]));
  }
} catch (error) {
  await vite.close();
  console.error(startProblem(error) ?? error);
  process.exitCode = 1;
}
