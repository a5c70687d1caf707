import { defineCommand } from 'citty';
import { pino } from 'pino';
import { createService, listen, openStore, watchWorkspaces } from '../service/index.ts';
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
    const { env } = process;
    const path = args.workspace ?? env['PLACARD_WORKSPACE'] ?? DEFAULTS.workspace;
    const db = args.db ?? env['PLACARD_DB'] ?? DEFAULTS.db;
    const port = portOf(args.port ?? env['PORT'] ?? DEFAULTS.port);
    const host = args.host ?? env['HOST'] ?? DEFAULTS.host;

    const ending = asked();
    const log = pino({
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    });
    const workspaces = watchWorkspaces(path, { log });
    const store = await openStore(db);
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
