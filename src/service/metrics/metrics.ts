import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { DAY_MS } from '../../protocol/index.ts';
import type { Route, RouteMetrics } from '../api/route.ts';
import type { IngestionRun } from '../integrations/ingestion-records.ts';
import { toPositions } from '../sql/feed.ts';
import type { FeedPage, Store } from '../store/store.ts';
import { type MetricValues, noTelemetry, type SpanOptions, type Telemetry } from '../telemetry.ts';
import type { WebhookAttempt, WebhookState } from '../webhooks/webhook-store.ts';
import { withTimeout } from '../with-timeout.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Buckets of every duration histogram, in seconds. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Removes client-supplied names from a code, because labels must be few and free of personal data. */
const codeLabel = (code: string): string => code.replace(/'.*'/s, "'…'").slice(0, 120);

/** Counts requests and responses. Each route keeps its own counters, because a label lookup costs more than counting. */
const createRequestMetrics = (registry: Registry) => {
  const registers = [registry];
  const requests = new Counter({
    name: 'placard_http_requests_total',
    help: 'HTTP requests by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'placard_http_request_duration_seconds',
    help: 'Duration of HTTP requests from head to response, by endpoint.',
    labelNames: ['endpoint'],
    buckets: SECONDS,
    registers,
  });
  const objects = new Counter({
    name: 'placard_objects_accepted_total',
    help: 'Objects accepted, by endpoint and kind.',
    labelNames: ['endpoint', 'kind'],
    registers,
  });
  const errors = new Counter({
    name: 'placard_objects_rejected_total',
    help: 'Objects rejected in errors of responses, by endpoint and code.',
    labelNames: ['endpoint', 'code'],
    registers,
  });
  const counted = new Map<string, { count(status: number): void; seconds(value: number): void }>();
  const countedAt = (endpoint: string) => {
    const known = counted.get(endpoint);
    if (known) return known;
    const byStatus = new Map<number, Counter.Internal>();
    const histogram = latency.labels(endpoint);
    const made = {
      count: (status: number) => {
        const counter = byStatus.get(status) ?? requests.labels(endpoint, String(status));
        byStatus.set(status, counter);
        counter.inc();
      },
      seconds: (value: number) => histogram.observe(value),
    };
    counted.set(endpoint, made);
    return made;
  };

  return {
    getRouteMetrics({ path }: Route): RouteMetrics {
      const kinds = new Map<string, Counter.Internal>();
      return {
        objects: (kind, count) => {
          const counter = kinds.get(kind) ?? objects.labels(path, kind);
          kinds.set(kind, counter);
          counter.inc(count);
        },
        error: (code) => errors.labels(path, codeLabel(code)).inc(),
      };
    },

    /** Counts a response. `route` is `null` for an unknown path. */
    countResponse(route: Route | null, status: number, seconds: number): void {
      const endpoint = countedAt(route?.path ?? 'none');
      endpoint.count(status);
      endpoint.seconds(seconds);
    },
  };
};

/** Values of `db.system.name` in the semantic conventions. */
const DATABASES = { sqlite: 'sqlite', postgres: 'postgresql', citus: 'postgresql' } as const;

/** Times store calls and group commits. */
const createStoreMetrics = (registry: Registry) => {
  const registers = [registry];
  const operations = new Histogram({
    name: 'placard_store_operation_duration_seconds',
    help: 'Duration of store operations, including time in the queue, by operation.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const queueSeconds = new Histogram({
    name: 'placard_commit_queue_seconds',
    help: 'Time that the oldest mutation of a commit group waited in the queue.',
    buckets: SECONDS,
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'placard_commit_duration_seconds',
    help: 'Duration of commits until they are durable.',
    buckets: SECONDS,
    registers,
  });
  const batchSize = new Histogram({
    name: 'placard_commit_batch_size',
    help: 'Mutations per commit group.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const pruned = new Counter({
    name: 'placard_pruned_rows_total',
    help: 'Rows deleted by retention, by workspace and kind.',
    labelNames: ['workspace', 'kind'],
    registers,
  });
  const inFlight = new Map<string, { count: number }>();
  new Gauge({
    name: 'placard_store_in_flight',
    help: 'Store operations in flight or queued, by operation.',
    labelNames: ['operation'],
    registers,
    // Set at collection time, because updating a gauge twice per call costs more than updating a number.
    collect() {
      for (const [operation, { count }] of inFlight) this.labels(operation).set(count);
    },
  });

  const createTimer = (operation: string) => {
    const histogram = operations.labels(operation);
    const calls = { count: 0 };
    inFlight.set(operation, calls);
    return async <R>(call: () => Promise<R>): Promise<R> => {
      const started = performance.now();
      calls.count += 1;
      try {
        return await call();
      } finally {
        calls.count -= 1;
        histogram.observe((performance.now() - started) / 1000);
      }
    };
  };

  return {
    pruned: (workspace: string, kind: string, rows: number) => pruned.labels(workspace, kind).inc(rows),

    /** Wraps the store so that every call is timed and traced. */
    timed(store: Store, telemetry: Telemetry): Store {
      store.onCommit(({ mutations, waitedMs, writingMs }) => {
        queueSeconds.observe(waitedMs / 1000);
        commitSeconds.observe(writingMs / 1000);
        batchSize.observe(mutations);
      });
      const timing = (operation: string) => {
        const timed = createTimer(operation);
        const span: SpanOptions<unknown> = {
          kind: 'client',
          attributes: { 'db.system.name': DATABASES[store.kind], 'db.operation.name': operation },
        };
        return <R>(call: () => Promise<R>): Promise<R> =>
          timed(() => telemetry.span(`store.${operation}`, span, call));
      };
      const [write, readUsers, loadTargetingData] = [
        timing('write'),
        timing('read_users'),
        timing('load_targeting_data'),
      ];
      const { addSpan } = telemetry;
      const tracedWrite: Store['write'] = async (work) => {
        const startMs = Date.now();
        let appliedMs = startMs;
        const apply: typeof work.apply = (users) => {
          appliedMs = Date.now();
          return work.apply(users);
        };
        const result = await store.write({ ...work, apply });
        addSpan('store.write.prepare', startMs, appliedMs);
        addSpan('store.write.commit', appliedMs, Date.now());
        return result;
      };
      const writeWork = telemetry === noTelemetry ? store.write : tracedWrite;
      return {
        ...store,
        write: (work) => write(() => writeWork(work)),
        readUsers: (...args) => readUsers(() => store.readUsers(...args)),
        loadTargetingData: (...args) => loadTargetingData(() => store.loadTargetingData(...args)),
      };
    },
  };
};

/** Counts integration runs. */
const createIngestionMetrics = (registry: Registry) => {
  const registers = [registry];
  const labelNames = ['workspace', 'integration'];
  const runs = new Counter({
    name: 'placard_ingestion_runs_total',
    help: 'Runs of integrations that have ended, by status (success, partial, error) and, of errors, by reason (source, rejects, timeout, process_ended).',
    labelNames: [...labelNames, 'status', 'reason'],
    registers,
  });
  const rows = new Counter({
    name: 'placard_ingestion_rows_total',
    help: 'Rows of integrations, by result: stored or rejected.',
    labelNames: [...labelNames, 'result'],
    registers,
  });
  const succeededAt = new Gauge({
    name: 'placard_ingestion_last_success_timestamp_seconds',
    help: 'When a run of an integration last ended without an error.',
    labelNames,
    registers,
  });

  return {
    /** Counts a finished run. `failure` is the reason if its status is `error`. */
    ingestionRun(run: IngestionRun & { failure: string | null }): void {
      const { workspaceId, integrationId, status, failure, rowsSynced, rowsFailed, finishedAtMs } = run;
      runs.labels(workspaceId, integrationId, status, failure ?? '').inc();
      rows.labels(workspaceId, integrationId, 'stored').inc(rowsSynced);
      rows.labels(workspaceId, integrationId, 'rejected').inc(rowsFailed);
      if (status !== 'error' && finishedAtMs !== null) {
        succeededAt.labels(workspaceId, integrationId).set(finishedAtMs / 1_000);
      }
    },
  };
};

type MeteredWorkspace = Pick<Workspace, 'workspaceId' | 'webhooks'>;

/** Returns the outcome as a label with few values, independent of the receiver's response. */
const outcomeLabel = ({ status, error }: Pick<WebhookAttempt, 'status' | 'error'>): string => {
  if (error === null) return 'delivered';
  return status === null ? 'no_response' : `http_${Math.floor(status / 100)}xx`;
};

const firstStoredMs = (page: FeedPage): number =>
  Math.min(
    ...Object.values(toPositions(page))
      .flat()
      .map(({ storedAtMs }) => storedAtMs),
  );

/** Counts attempts, and reads the lag of webhooks from the database. */
const createWebhookMetrics = (registry: Registry) => {
  const registers = [registry];
  const labelNames = ['workspace', 'webhook'];
  const attempts = new Counter({
    name: 'placard_webhook_attempts_total',
    help: 'Attempts of webhooks, by outcome: delivered, no_response, or http_4xx and the other classes of status codes.',
    labelNames: [...labelNames, 'outcome'],
    registers,
  });
  const lag = new Gauge({
    name: 'placard_webhook_lag_seconds',
    help: 'Age of the oldest row that is not delivered to a webhook; 0 if none. Paused webhooks have no value.',
    labelNames,
    registers,
  });
  const failures = new Gauge({
    name: 'placard_webhook_consecutive_failures',
    help: 'Failed attempts of a webhook since the last delivery.',
    labelNames,
    registers,
  });
  const disabled = new Gauge({
    name: 'placard_webhook_disabled',
    help: '1 if a webhook is disabled after a 410 or five days of failures, else 0.',
    labelNames,
    registers,
  });

  return {
    /** Counts an attempt of this process. */
    webhookAttempt(
      { workspaceId, webhookId }: Pick<WebhookState, 'workspaceId' | 'webhookId'>,
      attempt: Pick<WebhookAttempt, 'status' | 'error'>,
    ): void {
      attempts.labels(workspaceId, webhookId, outcomeLabel(attempt)).inc();
    },

    /** Sets the gauges of all active webhooks. Their values are the same in each replica. */
    async readWebhooks(
      workspaces: readonly MeteredWorkspace[],
      { webhooks: records, readFeed }: Pick<Store, 'webhooks' | 'readFeed'>,
      nowMs: number,
    ): Promise<void> {
      for (const gauge of [lag, failures, disabled]) gauge.reset();
      for (const { workspaceId, webhooks } of workspaces) {
        const active = new Set(
          webhooks.filter(({ isPaused }) => !isPaused).map(({ webhookId }) => webhookId),
        );
        if (active.size === 0) continue;
        for (const state of await records.states(workspaceId)) {
          const { webhookId, deliveredThrough } = state;
          if (!active.has(webhookId)) continue;
          const lagMs = nowMs - firstStoredMs(await readFeed(deliveredThrough, 1));
          lag.labels(workspaceId, webhookId).set(Math.max(0, lagMs) / 1_000);
          failures.labels(workspaceId, webhookId).set(state.failures);
          disabled.labels(workspaceId, webhookId).set(state.disabledReason === null ? 0 : 1);
        }
      }
    },
  };
};

/** Number of days of data points in the metrics. `placard export data-points` exports all days. */
const POINT_DAYS = 31;
/** Timeout of database reads. Prometheus stops a scrape after 10 seconds by default. */
const COLLECT_MS = 2_000;

const readDataPoints = async (store: Store, workspaceIds: readonly string[]) => {
  const days: { workspaceId: string; day: string; count: number }[] = [];
  for (const workspaceId of workspaceIds) {
    for await (const { day, points } of store.dataPoints(workspaceId)) {
      days.push({ workspaceId, day, count: points });
    }
  }
  return days;
};

let ofProcess: Registry | undefined;

/** Returns the memory, event loop and GC metrics of the process, registered once for all its services. */
const processRegistry = (): Registry => {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
};

interface CollectOptions {
  workspaces: readonly MeteredWorkspace[];
  store: Store;
  nowMs: number;
  /** Whether only the operator can read the metrics. Data points are omitted otherwise. */
  isPrivate: boolean;
}

/** Creates the Prometheus metrics of a service. */
export const createMetrics = ({ isEditRejected }: { isEditRejected(): boolean }) => {
  const registry = new Registry();
  new Gauge({
    name: 'placard_workspace_last_reload_successful',
    help: '1 if the workspaces in use are those of the files, 0 after a rejected edit.',
    registers: [registry],
    collect() {
      this.set(isEditRejected() ? 0 : 1);
    },
  });
  const shared = processRegistry();
  const points = new Gauge({
    name: 'placard_data_points',
    help: 'Data points by workspace and UTC day.',
    labelNames: ['workspace', 'day'],
    registers: [registry],
  });

  const webhookMetrics = createWebhookMetrics(registry);

  /** Set only if the store has a WAL. */
  const wal = new Gauge({
    name: 'placard_sqlite_wal_bytes',
    help: "Size of SQLite's write-ahead log. It grows beside a long reader, such as a backup.",
    registers: [],
  });

  const collect = async ({ workspaces, store, nowMs, isPrivate }: CollectOptions): Promise<Registry> => {
    const oldest = new Date(nowMs - POINT_DAYS * DAY_MS).toISOString().slice(0, 10);
    const workspaceIds = isPrivate ? workspaces.map(({ workspaceId }) => workspaceId) : [];
    // If the database is unavailable, only its own metrics are missing. The other metrics show the outage.
    const [days] = await Promise.all([
      withTimeout(readDataPoints(store, workspaceIds), COLLECT_MS),
      withTimeout(webhookMetrics.readWebhooks(workspaces, store, nowMs), COLLECT_MS),
    ]);
    points.reset();
    for (const { workspaceId, day, count } of days ?? []) {
      if (day > oldest) points.labels(workspaceId, day).set(count);
    }
    const walBytes = store.walBytes();
    if (walBytes !== null) {
      wal.set(walBytes);
      registry.registerMetric(wal);
    }
    return Registry.merge([shared, registry]);
  };

  return {
    contentType: registry.contentType,
    ...createRequestMetrics(registry),
    ...createStoreMetrics(registry),
    ...createIngestionMetrics(registry),
    webhookAttempt: webhookMetrics.webhookAttempt,

    text: async (...from: Parameters<typeof collect>): Promise<string> => (await collect(...from)).metrics(),
    values: async (...from: Parameters<typeof collect>): Promise<readonly MetricValues[]> =>
      (await collect(...from)).getMetricsAsJSON(),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
