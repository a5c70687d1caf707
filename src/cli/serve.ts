import { defineCommand } from 'citty';
import { pino } from 'pino';
import { createService, errorFacts, listen, tuneProcess, watchWorkspaces } from '../service/index.ts';
import { openDatabase } from './open-database.ts';
import { portOf, refuseUnknown } from './options.ts';

const options = {
  workspace: {
    type: 'string',
    description: 'Workspace file, or a folder of them (PLACARD_WORKSPACE)',
    valueHint: 'FILE|FOLDER',
  },
  db: {
    type: 'string',
    description: 'SQLite file, :memory:, or a PostgreSQL URL (PLACARD_DB)',
    valueHint: 'FILE|postgres://…',
  },
  port: { type: 'string', description: 'Port, 0 for any free one (PORT)', valueHint: '8787' },
  host: { type: 'string', description: 'Address to listen on (HOST)', valueHint: '127.0.0.1' },
} as const;

const DEFAULTS = { workspace: 'workspace.json', db: 'placard.db', port: '8787', host: '127.0.0.1' };

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Resolves with the first of the two signals that ask a process to end. */
const asked = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });

/** `placard serve`: runs the API until it is asked to end, then finishes what it has begun. */
export const serve = defineCommand({
  meta: { name: 'serve', description: 'Run the API.' },
  args: options,
  run: async ({ args }) => {
    refuseUnknown(args, options);
    tuneProcess();
    const { env } = process;
    // A variable that is set to nothing is not set: an empty host would be every address of the machine.
    const choose = (name: keyof typeof DEFAULTS, variable: string): string => {
      if (args[name] === '') throw new Error(`--${name} needs a value`);
      return args[name] ?? (env[variable] || DEFAULTS[name]);
    };
    const path = choose('workspace', 'PLACARD_WORKSPACE');
    const db = choose('db', 'PLACARD_DB');
    const port = portOf(choose('port', 'PORT'));
    const host = choose('host', 'HOST');

    const ending = asked();
    const level = env['LOG_LEVEL'] || 'info';
    if (!LEVELS.includes(level))
      throw new Error(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, got "${level}"`);
    const log = pino({
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    });
    process.on('uncaughtException', (error) => {
      // Node's own report quotes the error, which may quote a user's data.
      log.fatal(errorFacts(error), 'ended by an error');
      process.exit(1);
    });
    const workspaces = watchWorkspaces(path, { log });
    const store = await openDatabase(db);
    const service = createService({ workspaces, store, log });
    try {
      const listening = await listen(service, { port, host, log });
      log.info({ url: listening.url, store: store.kind }, 'listening');
      const signal = await ending;
      log.info({ signal }, 'stopping');
      await listening.stop();
      log.info({}, 'stopped');
    } catch (error) {
      await service.close();
      throw error;
    }
  },
});
