import { createApiPipeline } from './api/pipeline.ts';
import { followResults } from './follow-results.ts';
import { createFetch } from './http/fetch.ts';
import type { HttpRequest, HttpResponse } from './http/http-request.ts';
import { type ListenOptions, type ServedPort, servePort } from './http/serve-port.ts';
import type { IngestionRun } from './integrations/records.ts';
import { type Log, silentLog } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createMissingSelectors, type MissingSelectors } from './missing-selectors.ts';
import { createPublicEndpoints } from './public-endpoints/public-endpoints.ts';
import { startRetention } from './retention.ts';
import { createRoutes } from './routes/routes.ts';
import type { Store } from './store/store.ts';
import { noTelemetry, type Telemetry } from './telemetry.ts';
import { parseWorkspace } from './workspace/parse-workspace.ts';
import type { WorkspaceSource } from './workspace/watch-workspaces.ts';
import { createRegistry } from './workspace/workspace.ts';

/** What the service is made of: workspaces and a store. */
export interface ServiceOptions {
  /** The contents of workspace files, which are checked here and never change. */
  workspaces: readonly unknown[];
  store: Store;
  /** Unix milliseconds. Default the system's clock. */
  now?: () => number;
  /** A pino logger fits. Default: no lines. */
  log?: Log;
  /** `/metrics` then answers only requests with `Authorization: Bearer <token>`. Default: it answers everyone. */
  metricsToken?: string;
}

/** The same for `placard serve`, whose workspaces change: what `watchWorkspaces` gives. */
interface WatchedServiceOptions extends Omit<ServiceOptions, 'workspaces'> {
  workspaces: WorkspaceSource;
  /** Default: none. */
  telemetry?: Telemetry;
}

/** The API, and what a process does with it. */
export interface Service {
  /** The whole API as a function: no port, no socket. */
  fetch(request: Request): Promise<Response>;
  /** The same for a request in another form; `listen` calls it. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** What pages have reported of selectors to this process: the Studio shows it. */
  missingSelectors: Pick<MissingSelectors, 'of'>;
  /** Counts a run of an integration among the metrics. */
  countIngestionRun(run: IngestionRun & { failure: string | null }): void;
  /** From now on `/readyz` says no, so that a balancer sends no more requests. */
  drain(): void;
  /** Stops watching, then closes the store once its writes are done. */
  close(): Promise<void>;
}

const fixed = (contents: readonly unknown[]): WorkspaceSource => {
  const registry = createRegistry(
    contents.map((content, index) => {
      const source = `workspaces[${index}]`;
      return { workspace: parseWorkspace(content, source), source };
    }),
  );
  return { registry: () => registry, stop: () => undefined };
};

const isSource = (workspaces: WorkspaceSource | readonly unknown[]): workspaces is WorkspaceSource =>
  'registry' in workspaces;

type Handled = Awaited<ReturnType<ReturnType<typeof createApiPipeline>['handle']>>;

/** Names a span by its route, as the semantic conventions do. Another path may hold anything, so it is left out. */
const describeResponse = ({ endpoint, response: { status } }: Handled) => ({
  ...(endpoint && { name: `${endpoint.method} ${endpoint.path}` }),
  attributes: {
    'http.response.status_code': status,
    ...(endpoint && { 'http.route': endpoint.path }),
  },
  isError: status >= 500,
});

/** Puts the API together. Throws a `WorkspaceError` where a given workspace cannot be used. */
export const createService = ({
  workspaces,
  store,
  now = Date.now,
  log = silentLog,
  metricsToken,
  ...more
}: ServiceOptions | WatchedServiceOptions): Service => {
  const telemetry = ('telemetry' in more && more.telemetry) || noTelemetry;
  const source = isSource(workspaces) ? workspaces : fixed(workspaces);
  const metrics = createMetrics();
  const timedStore = metrics.timed(store, telemetry);
  const missingSelectors = createMissingSelectors();
  const routes = createRoutes({ store: timedStore, log, missingSelectors });
  const api = createApiPipeline({
    routes,
    registry: source.registry,
    store: timedStore,
    now,
    log,
    metricsOf: metrics.metricsOf,
  });
  const allWorkspaces = () => source.registry().workspaces;
  const stopFollowing = followResults({ store, workspaces: allWorkspaces, log });
  const stopRetention = startRetention({
    store,
    workspaces: allWorkspaces,
    onPruned: metrics.pruned,
    log,
    now,
  });
  telemetry.exportMetrics(() =>
    metrics.values(
      allWorkspaces().map(({ workspaceId }) => workspaceId),
      store,
      now(),
    ),
  );
  let draining = false;
  const publicEndpoints = createPublicEndpoints({
    routes,
    store,
    metrics,
    log,
    now,
    metricsToken,
    workspaceIds: () => allWorkspaces().map(({ workspaceId }) => workspaceId),
    isDraining: () => draining,
  });

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    if (publicEndpoints.has(request.path)) return (await publicEndpoints.handle(request)).response;
    const started = performance.now();
    const { endpoint: route, response } = await telemetry.span(
      request.method,
      {
        kind: 'server',
        header: request.header,
        attributes: { 'http.request.method': request.method, 'placard.request_id': request.requestId },
        describe: describeResponse,
      },
      () => api.handle(request),
    );
    const ms = performance.now() - started;
    metrics.answered(route, response.status, ms / 1000);
    // The path only where it is one of ours: others may hold anything.
    const { method, requestId } = request;
    log.debug({ request_id: requestId, method, path: route?.path, status: response.status, ms }, 'answered');
    return response;
  };

  return {
    handle,
    fetch: createFetch(handle),
    missingSelectors,
    countIngestionRun: metrics.ingestionRun,
    drain: () => {
      draining = true;
    },
    close: async () => {
      draining = true;
      source.stop();
      await Promise.all([stopFollowing(), stopRetention()]);
      await store.close();
    },
  };
};

/** A service that listens. */
export interface Listening extends ServedPort {
  /** As of any port; then it closes the service. */
  stop(): Promise<void>;
}

/** Serves a service on a port. Rejects where the port cannot be had. */
export const listen = async (service: Service, options: ListenOptions = {}): Promise<Listening> => {
  const served = await servePort(service.handle, options);
  return {
    ...served,
    stop: async () => {
      service.drain();
      await served.stop();
      await service.close();
    },
  };
};
