import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { inTime } from './in-time.ts';
import type { Fate } from './replicas/share-users.ts';
import type { Route, Tell } from './route.ts';
import type { Store } from './store/store.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Days of data points among the metrics; `placard export data-points` has them all. */
const POINT_DAYS = 31;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Longer than this nobody waits for them: who asks for metrics gives up after some ten seconds. */
const POINTS_MS = 2_000;

/** A code without what the sender named: labels must be few, and hold nothing personal. */
const codeLabel = (code: string): string =>
  /^'[a-z_]+' is (?:required|not valid)$/.test(code) && code.length <= 40
    ? code
    : code.replace(/'.*'/s, "'…'").slice(0, 120);

const daysOf = async (store: Store, workspaceIds: readonly string[]) => {
  const days: { workspaceId: string; day: string; count: number }[] = [];
  for (const workspaceId of workspaceIds) {
    for await (const { day, points } of store.dataPoints(workspaceId)) {
      days.push({ workspaceId, day, count: points });
    }
  }
  return days;
};

export interface Metrics {
  tellOf(route: Route): Tell;
  /** One answered request; `route` is `null` for a path that is none. */
  answered(route: Route | null, status: number, seconds: number): void;
  /** How many other replicas there are, told when asked for. */
  neighbours(count: () => number): void;
  /** One part of a request that was for the users of another replica. */
  handedOver(fate: Fate): void;
  /** The same store, with every call timed. */
  timed(store: Store): Store;
  /** Prometheus text. */
  text(workspaceIds: readonly string[], store: Store, nowMs: number): Promise<string>;
  contentType: string;
}

let ofProcess: Registry | undefined;

/** Memory, event loop and garbage are the process's: what watches them is there once, however many services are. */
const processRegistry = (): Registry => {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
};

export const createMetrics = (): Metrics => {
  const registry = new Registry();
  const shared = processRegistry();
  const registers = [registry];
  const requests = new Counter({
    name: 'placard_requests_total',
    help: 'Requests answered, by endpoint and status.',
    labelNames: ['endpoint', 'status'],
    registers,
  });
  const latency = new Histogram({
    name: 'placard_request_seconds',
    help: 'From the head of a request to its answer, by endpoint.',
    labelNames: ['endpoint'],
    buckets: SECONDS,
    registers,
  });
  const objects = new Counter({
    name: 'placard_objects_total',
    help: 'Objects accepted, by endpoint and kind.',
    labelNames: ['endpoint', 'kind'],
    registers,
  });
  const errors = new Counter({
    name: 'placard_object_errors_total',
    help: 'Entries of errors in answers, by endpoint and code.',
    labelNames: ['endpoint', 'code'],
    registers,
  });
  const operations = new Histogram({
    name: 'placard_store_seconds',
    help: 'Store calls from the request to the durable answer, time in the queue included, by operation.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const waited = new Histogram({
    name: 'placard_commit_wait_seconds',
    help: 'How long the first of the works that are stored together waited for its turn.',
    buckets: SECONDS,
    registers,
  });
  const committing = new Histogram({
    name: 'placard_commit_seconds',
    help: 'How long the database took to store works together, until they are durable.',
    buckets: SECONDS,
    registers,
  });
  const together = new Histogram({
    name: 'placard_commit_works',
    help: 'How many works were stored together.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  });
  const handedOver = new Counter({
    name: 'placard_handed_over_total',
    help: 'Parts of requests handed over to the replica that their users belong to, by what became of them.',
    labelNames: ['fate'],
    registers,
  });
  const underWay = new Map<string, { count: number }>();
  new Gauge({
    name: 'placard_store_waiting',
    help: 'Store calls under way or in the queue, by operation.',
    labelNames: ['operation'],
    registers,
    // Told when asked for: a gauge costs more than a number, twice a call.
    collect() {
      for (const [operation, { count }] of underWay) this.labels(operation).set(count);
    },
  });
  const points = new Gauge({
    name: 'placard_data_points',
    help: 'Data points by workspace and UTC day.',
    labelNames: ['workspace', 'day'],
    registers,
  });
  // Label look-ups cost more than counting does: each route keeps its own counters.
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
    contentType: registry.contentType,
    tellOf: ({ path }) => {
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
    answered: (route, status, seconds) => {
      const endpoint = countedAt(route?.path ?? 'none');
      endpoint.count(status);
      endpoint.seconds(seconds);
    },
    neighbours: (count) => {
      new Gauge({
        name: 'placard_replicas',
        help: 'Replicas of the database that share its users, as far as this one knows; it counts itself.',
        registers,
        collect() {
          this.set(count() + 1);
        },
      });
    },
    handedOver: (fate) => handedOver.labels(fate).inc(),
    timed: (store) => {
      store.onCommit(({ works, waitedMs, writingMs }) => {
        waited.observe(waitedMs / 1000);
        committing.observe(writingMs / 1000);
        together.observe(works);
      });
      const timing = <A extends unknown[], R>(operation: string, call: (...given: A) => Promise<R>) => {
        const histogram = operations.labels(operation);
        const calls = { count: 0 };
        underWay.set(operation, calls);
        return async (...given: A): Promise<R> => {
          const started = performance.now();
          calls.count += 1;
          try {
            return await call(...given);
          } finally {
            calls.count -= 1;
            histogram.observe((performance.now() - started) / 1000);
          }
        };
      };
      return {
        ...store,
        writeUsers: timing('write_users', store.writeUsers) as Store['writeUsers'],
        readUsers: timing('read_users', store.readUsers),
        bannerUser: timing('banner_user', store.bannerUser),
        recordBannerEvents: timing('record_banner_events', store.recordBannerEvents),
      };
    },
    text: async (workspaceIds, store, nowMs) => {
      const oldest = new Date(nowMs - POINT_DAYS * DAY_MS).toISOString().slice(0, 10);
      // While the database is away the rest is what tells of it: only its own numbers are missing.
      const days = await inTime(daysOf(store, workspaceIds), POINTS_MS);
      points.reset();
      for (const { workspaceId, day, count } of days ?? []) {
        if (day > oldest) points.labels(workspaceId, day).set(count);
      }
      return Registry.merge([shared, registry]).metrics();
    },
  };
};
