import { setTimeout as wait } from 'node:timers/promises';
import { defineCommand } from 'citty';
import type { Logger } from 'pino';
import { startIngestion } from '../ingestion/index.ts';
import { readSecret } from '../secrets/index.ts';
import {
  createService,
  isLoopback,
  type Listening,
  type Log,
  listen,
  type ReleaseSource,
  type ServedPort,
  type Service,
  type Store,
  serializeError,
  startWebhooks,
  tuneProcess,
  type WatchedSource,
  watchReleases,
  watchWorkspaces,
} from '../service/index.ts';
import { builtPages, createStudio, listenStudio, readAlerts, startRolloutStops } from '../studio/index.ts';
import { startTelemetry } from '../telemetry/index.ts';
import { version } from '../version/index.ts';
import { getDatabaseAddress, openDatabase } from './database.ts';
import { ReportedError } from './exit.ts';
import { namedHosts } from './named-hosts.ts';
import { formatError } from './sentence.ts';
import { createServeLog } from './serve-log.ts';

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
  'drain-seconds': {
    type: 'string',
    description:
      'After SIGTERM /readyz is 503 and requests are still served for this long (PLACARD_DRAIN_SECONDS)',
    valueHint: '5',
  },
  'studio-port': {
    type: 'string',
    description: 'Port of the Studio; default none (PLACARD_STUDIO_PORT)',
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
  'service-url': {
    type: 'string',
    description: 'Where browsers reach the API, for images that the Studio uploads (PLACARD_SERVICE_URL)',
    valueHint: 'https://api.example',
  },
  'trusted-proxies': {
    type: 'string',
    description: 'Proxies whose X-Forwarded-For the Studio trusts (PLACARD_TRUSTED_PROXIES)',
    valueHint: '127.0.0.1,10.0.0.0/8',
  },
} as const;

/** Returns the command-line option, otherwise the environment variable. Empty variables count as unset. */
type Setting = (name: keyof typeof options, variable: string) => string | undefined;

/** Parses a port. Throws if it is not between 0 and 65,535. */
const parsePort = (option: string, text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error(`--${option} must be a number from 0 to 65535, got "${text}"`);
  return port;
};

/** Default drain time, longer than two health checks of `deploy/Caddyfile`. */
const DRAIN_SECONDS = '5';
const MAX_DRAIN_SECONDS = 3_600;
/** Linger time, longer than the upstream `keepalive_timeout` of `deploy/nginx.conf`, which does not check `/readyz`. */
const LINGER_MS = 1_500;

const parseDrainMs = (text: string): number => {
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= MAX_DRAIN_SECONDS))
    throw new Error(`--drain-seconds must be a number from 0 to ${MAX_DRAIN_SECONDS}, got "${text}"`);
  return seconds * 1000;
};

/** Watches the workspace files. Throws an error with a hint if there are none. */
const openWorkspaces = (path: string, log: Log): WatchedSource => {
  try {
    return watchWorkspaces(path, { log });
  } catch (error) {
    const { code, path: missing }: { code?: unknown; path?: unknown } = Object(error);
    if (code !== 'ENOENT' || missing !== path) throw error;
    throw new Error(`${path} does not exist; placard init creates a workspace file`);
  }
};

/** Logs whether other hosts can reach the service, and which endpoints are exposed to them. */
const logExposure = (log: Log, host: string, hasMetricsToken: boolean) => {
  if (isLoopback(host)) {
    log.info({ host }, 'only this machine can reach the service; in a container set HOST=0.0.0.0');
  } else if (!hasMetricsToken) {
    log.warn(
      { host },
      '/metrics is open to everyone who can reach this port: set PLACARD_METRICS_TOKEN, or close the path at your proxy',
    );
  }
};

interface ServeStudioOptions {
  workspaces: ReleaseSource;
  store: Store;
  service: Service;
  /** URL of the API for browsers on this machine; `null` if other hosts can reach the service. */
  ownUrl: string | null;
  log: Log;
}

/** Returns a public URL without a trailing slash; `undefined` if not configured. Throws if the URL is invalid. */
const getPublicUrl = (
  setting: Setting,
  name: 'studio-url' | 'service-url',
  variable: string,
  example: string,
): string | undefined => {
  const url = setting(name, variable);
  if (url === undefined || (/^https?:/.test(url) && URL.canParse(url))) return url?.replace(/\/$/, '');
  throw new Error(`--${name} must be a URL such as ${example}, got "${url}"`);
};

/** Serves the Studio if its port is configured; otherwise returns `null`. */
const serveStudio = async (
  setting: Setting,
  { workspaces, store, service, ownUrl, log }: ServeStudioOptions,
): Promise<ServedPort | null> => {
  const port = setting('studio-port', 'PLACARD_STUDIO_PORT');
  if (port === undefined) return null;
  const publicUrl = getPublicUrl(setting, 'studio-url', 'PLACARD_STUDIO_URL', 'https://studio.example');
  if (!workspaces.registry().workspaces.some(({ operators }) => operators.length > 0)) {
    log.warn({}, 'the Studio has no operators: create one with "placard operator create"');
  }
  const host = setting('studio-host', 'PLACARD_STUDIO_HOST') ?? '127.0.0.1';
  const isOnlyHere = publicUrl === undefined && isLoopback(host);
  const studio = createStudio({
    workspaces,
    store,
    service,
    // Avoids a loopback address if others use the Studio, because it would refer to their own machines.
    serviceUrl:
      getPublicUrl(setting, 'service-url', 'PLACARD_SERVICE_URL', 'https://api.example') ??
      (isOnlyHere ? ownUrl : null),
    pages: builtPages(),
    log,
    ...(publicUrl !== undefined && { publicUrl }),
  });
  const listening = await listenStudio(studio, {
    port: parsePort('studio-port', port),
    host,
    log,
    trustedProxies: setting('trusted-proxies', 'PLACARD_TRUSTED_PROXIES') ?? '',
  });
  log.info({ url: publicUrl ?? listening.url }, 'Studio listening');
  return listening;
};

/** Resolves with the termination signal. */
const waitForSignal = (signal?: AbortSignal): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    const onSignal = (name: NodeJS.Signals) => {
      ignore();
      resolve(name);
    };
    const ignore = () => {
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    signal?.addEventListener('abort', ignore);
  });

/** Continues serving until load balancers detect the shutdown through `/readyz`. Another signal ends the wait. */
const drain = async (service: Service, ms: number): Promise<void> => {
  service.drain();
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([wait(ms, undefined, { signal }).catch(() => undefined), waitForSignal(signal)]);
  ended.abort();
};

type Args = Partial<Record<keyof typeof options, string | undefined>>;

const runService = async (args: Args, log: Logger): Promise<void> => {
  const { env } = process;
  const setting: Setting = (name, variable) => {
    // An empty host would bind all addresses.
    if (args[name] === '') throw new Error(`--${name} needs a value`);
    return args[name] ?? (env[variable] || undefined);
  };
  const path = setting('workspace', 'PLACARD_WORKSPACE') ?? 'workspace.json';
  const db = getDatabaseAddress(args.db) ?? 'placard.db';
  const port = parsePort('port', setting('port', 'PORT') ?? '8787');
  const host = setting('host', 'HOST') ?? '127.0.0.1';
  const drainMs = parseDrainMs(setting('drain-seconds', 'PLACARD_DRAIN_SECONDS') ?? DRAIN_SECONDS);

  const metricsToken = readSecret('PLACARD_METRICS_TOKEN');

  const ending = waitForSignal();
  tuneProcess();
  process.on('uncaughtException', (error) => {
    // Node's default report quotes the error, which may contain user data.
    log.fatal(serializeError(error), 'uncaught exception, exiting');
    process.exit(1);
  });
  const watched = openWorkspaces(path, log);
  // Closing a terminal sends SIGHUP, which must end the process.
  if (!process.stdout.isTTY) process.on('SIGHUP', watched.reload);
  const telemetry = await startTelemetry({ env, version: version(), log });
  const store = await openDatabase(db);
  const workspaces = await watchReleases(watched, store.studio, { log }).catch(async (error) => {
    // Stops watching and closes the store, because its threads and connections would keep the process alive.
    watched.stop();
    await store.close();
    throw error;
  });
  const service = createService({
    workspaces,
    store,
    log,
    ...(telemetry && { telemetry }),
    ...(metricsToken !== undefined && { metricsToken }),
  });
  const stopIngestion = startIngestion({
    store,
    workspaces: () => workspaces.registry().workspaces,
    log,
    onRun: service.countIngestionRun,
  });
  const stopWebhooks = startWebhooks({
    store,
    workspaces: () => workspaces.registry().workspaces,
    readAlerts: (workspace) => readAlerts(workspace, store, Date.now()),
    readSecret,
    privateHosts: namedHosts(env['PLACARD_WEBHOOK_PRIVATE_HOSTS']),
    log,
    onAttempt: service.countWebhookAttempt,
  });
  const endRolloutStops = startRolloutStops({ workspaces, store, log });
  let listening: Listening | null = null;
  try {
    listening = await listen(service, { port, host, log, ...(drainMs > 0 && { lingerMs: LINGER_MS }) });
    // Other machines cannot use a loopback address.
    const ownUrl = isLoopback(host) ? listening.url : null;
    const studio = await serveStudio(setting, { workspaces, store, service, ownUrl, log });
    log.info({ url: listening.url, docs: `${listening.url}/docs`, store: store.kind }, 'listening');
    logExposure(log, host, metricsToken !== undefined);
    const signal = await ending;
    // Ctrl+C in a terminal does not drain, because no load balancer is involved.
    const isDraining = signal === 'SIGTERM' && drainMs > 0;
    log.info({ signal, ...(isDraining && { drain_seconds: drainMs / 1000 }) }, 'stopping');
    if (isDraining) await drain(service, drainMs);
    await studio?.stop();
    await Promise.all([stopIngestion(), stopWebhooks(), endRolloutStops()]);
    await listening.stop();
    await telemetry?.stop();
    log.info({}, 'stopped');
  } catch (error) {
    await Promise.all([stopIngestion(), stopWebhooks(), endRolloutStops()]);
    await (listening ? listening.stop() : service.close());
    await telemetry?.stop();
    throw error;
  }
};

/** `placard serve`: runs the API until a termination signal, then finishes in-flight requests. */
export const serve = defineCommand({
  meta: { name: 'serve', description: 'Run the API.' },
  args: options,
  run: async ({ args }) => {
    const log = createServeLog(process.env['LOG_LEVEL'] || 'info');
    try {
      await runService(args, log);
    } catch (error) {
      if (!log.isLevelEnabled('fatal')) throw error;
      log.fatal({ problem: formatError(error) }, 'service failed');
      throw new ReportedError(formatError(error));
    }
  },
});
