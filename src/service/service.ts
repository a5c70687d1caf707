import { createApiPipeline } from './api/pipeline.ts';
import { createFetch } from './http/fetch.ts';
import type { HttpRequest, HttpResponse } from './http/http-request.ts';
import { type ListenOptions, type ServedPort, servePort } from './http/serve-port.ts';
import type { IngestionRun } from './integrations/ingestion-records.ts';
import { type Log, silentLog } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createMissingSelectors, type MissingSelectors } from './missing-selectors.ts';
import { createPublicEndpoints } from './public-endpoints/public-endpoints.ts';
import { startRetention } from './retention.ts';
import { createRoutes } from './routes/routes.ts';
import { startResultsConsumer } from './start-results-consumer.ts';
import type { Store } from './store/store.ts';
import { noTelemetry, type Telemetry } from './telemetry.ts';
import type { WebhookAttempt, WebhookState } from './webhooks/webhook-store.ts';
import { parseWorkspace } from './workspace/parse-workspace.ts';
import type { WorkspaceSource } from './workspace/watch-workspaces.ts';
import { createRegistry } from './workspace/workspace.ts';

/** Workspaces, store and logging of `createService`. */
export interface ServiceOptions {
  /** Contents of workspace files. Validated once and never reloaded. */
  workspaces: readonly unknown[];
  store: Store;
  /** Returns Unix milliseconds. Default: the system clock. */
  now?: () => number;
  /** Logger, compatible with pino. Default: no logging. */
  log?: Log;
  /** Token that `/metrics` requires as `Authorization: Bearer <token>`. Default: `/metrics` is public. */
  metricsToken?: string;
}

/** Options for `placard serve`, whose workspaces come from `watchWorkspaces` and change. */
interface WatchedServiceOptions extends Omit<ServiceOptions, 'workspaces'> {
  workspaces: WorkspaceSource;
  /** Exporter of traces and metrics. Default: none. */
  telemetry?: Telemetry;
}

/** The API with its lifecycle. */
export interface Service {
  /** Handles a request without a port or socket. */
  fetch(request: Request): Promise<Response>;
  /** Like `fetch`, for the internal request type. Called by `listen`. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Missing selectors reported to this process, for the Studio. */
  missingSelectors: Pick<MissingSelectors, 'of'>;
  /** Counts an integration run in the metrics. */
  countIngestionRun(run: IngestionRun & { failure: string | null }): void;
  /** Counts an attempt of a webhook in the metrics. */
  countWebhookAttempt(webhook: WebhookState, attempt: WebhookAttempt): void;
  /** Makes `/readyz` fail, so that the load balancer stops sending requests. */
  drain(): void;
  /** Stops watching, then closes the store after pending writes. */
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

/** Names a span by its route, as the semantic conventions require. Omits unknown paths, which may contain personal data. */
const describeResponse = ({ endpoint, response: { status } }: Handled) => ({
  ...(endpoint && { name: `${endpoint.method} ${endpoint.path}` }),
  attributes: {
    'http.response.status_code': status,
    ...(endpoint && { 'http.route': endpoint.path }),
  },
  isError: status >= 500,
});

/** Creates the service. Throws a `WorkspaceError` if a workspace is invalid. */
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
  const metrics = createMetrics({ isEditRejected: () => source.isEditRejected?.() ?? false });
  const timedStore = metrics.timed(store, telemetry);
  const missingSelectors = createMissingSelectors();
  const routes = createRoutes({ store: timedStore, log, missingSelectors });
  const api = createApiPipeline({
    routes,
    registry: source.registry,
    store: timedStore,
    now,
    log,
    getRouteMetrics: metrics.getRouteMetrics,
  });
  const allWorkspaces = () => source.registry().workspaces;
  const stopResultsConsumer = startResultsConsumer({ store, workspaces: allWorkspaces, log });
  const stopRetention = startRetention({
    store,
    workspaces: allWorkspaces,
    onPruned: metrics.pruned,
    log,
    now,
  });
  telemetry.exportMetrics(() =>
    metrics.values({ workspaces: allWorkspaces(), store, nowMs: now(), isPrivate: true }),
  );
  let draining = false;
  const publicEndpoints = createPublicEndpoints({
    routes,
    store,
    metrics,
    log,
    now,
    metricsToken,
    workspaces: allWorkspaces,
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
    metrics.countResponse(route, response.status, ms / 1000);
    // Logs only known paths, because unknown ones may contain personal data.
    const { method, requestId } = request;
    log.debug(
      { request_id: requestId, method, path: route?.path, status: response.status, ms },
      'request handled',
    );
    return response;
  };

  return {
    handle,
    fetch: createFetch(handle),
    missingSelectors,
    countIngestionRun: metrics.ingestionRun,
    countWebhookAttempt: metrics.webhookAttempt,
    drain: () => {
      draining = true;
    },
    close: async () => {
      draining = true;
      source.stop();
      await Promise.all([stopResultsConsumer(), stopRetention()]);
      await store.close();
    },
  };
};

/** Service that listens on a port. */
export interface Listening extends ServedPort {
  /** Stops listening, then closes the service. */
  stop(): Promise<void>;
}

/** Serves a service on a port. Rejects if the port is not available. */
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
