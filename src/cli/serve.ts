import { defineCommand } from 'citty';
import { pino } from 'pino';
import { startIngestion } from '../ingestion/index.ts';
import {
  createService,
  errorFacts,
  followReleases,
  type Log,
  listen,
  tuneProcess,
  type WorkspaceSource,
  watchWorkspaces,
} from '../service/index.ts';
import { namedDatabase, openDatabase } from './database.ts';
import { portOf, refuseUnknown } from './options.ts';
import { serveStudio } from './serve-studio.ts';

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
  'studio-port': {
    type: 'string',
    description: 'Port of the Studio; without it there is none (PLACARD_STUDIO_PORT)',
    valueHint: '8788',
  },
  'studio-host': {
    type: 'string',
    description: 'Address the Studio listens on (PLACARD_STUDIO_HOST)',
    valueHint: '127.0.0.1',
  },
  'studio-url': {
    type: 'string',
    description: 'Where browsers reach the Studio, behind a proxy (PLACARD_STUDIO_URL)',
    valueHint: 'https://studio.example',
  },
  'trusted-proxies': {
    type: 'string',
    description: 'Proxies whose X-Forwarded-For the Studio believes (PLACARD_TRUSTED_PROXIES)',
    valueHint: '127.0.0.1,10.0.0.0/8',
  },
} as const;

const DEFAULTS = { workspace: 'workspace.json', port: '8787', host: '127.0.0.1' };
const DEFAULT_DB = 'placard.db';

/** An address that other machines cannot reach. */
const LOOPBACK = /^(?:127\.|localhost$|::1$)/;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Watches the workspaces. Throws with a hint where there are none yet. */
const workspacesOf = (path: string, log: Log): WorkspaceSource => {
  try {
    return watchWorkspaces(path, { log });
  } catch (error) {
    const { code, path: missing } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || missing !== path) throw error;
    throw new Error(`${path} is not there; placard init writes a workspace file`);
  }
};

/** Logs who can reach the service, and what they can read there. */
const logReach = (log: Log, host: string, hasMetricsToken: boolean) => {
  if (LOOPBACK.test(host)) {
    log.info({ host }, 'only this machine can reach the service; in a container set HOST=0.0.0.0');
  } else if (!hasMetricsToken) {
    log.warn(
      { host },
      '/metrics is open to everyone who can reach this port: set PLACARD_METRICS_TOKEN, or close the path at your proxy',
    );
  }
};

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
    const db = namedDatabase(args.db) ?? DEFAULT_DB;
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
    const watched = workspacesOf(path, log);
    const store = await openDatabase(db);
    const workspaces = await followReleases(watched, store.studio, { log });
    const metricsToken = env['PLACARD_METRICS_TOKEN'] || undefined;
    const service = createService({
      workspaces,
      store,
      log,
      ...(metricsToken !== undefined && { metricsToken }),
    });
    const stopIngestion = startIngestion({
      store,
      workspaces: () => workspaces.registry().workspaces,
      log,
    });
    try {
      const studio = await serveStudio({ args, env, workspaces, store, log });
      const listening = await listen(service, { port, host, log });
      log.info({ url: listening.url, docs: `${listening.url}/docs`, store: store.kind }, 'listening');
      logReach(log, host, metricsToken !== undefined);
      const signal = await ending;
      log.info({ signal }, 'stopping');
      await studio?.stop();
      await stopIngestion();
      await listening.stop();
      log.info({}, 'stopped');
    } catch (error) {
      await stopIngestion();
      await service.close();
      throw error;
    }
  },
});
