import { Counter, Histogram, type Registry } from 'prom-client';
import type { Route, RouteMetrics } from '../route.ts';
import { SECONDS } from './seconds.ts';

/** A code without what the sender named: labels must be few, and hold nothing personal. */
const codeLabel = (code: string): string =>
  /^'[a-z_]+' is (?:required|not valid)$/.test(code) && code.length <= 40
    ? code
    : code.replace(/'.*'/s, "'…'").slice(0, 120);

/** Counts what is asked and how it is answered. Label look-ups cost more than counting does: each route keeps its own. */
export const createRequestMetrics = (registry: Registry) => {
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
    metricsOf({ path }: Route): RouteMetrics {
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

    /** One answered request; `route` is `null` for a path that is none. */
    answered(route: Route | null, status: number, seconds: number): void {
      const endpoint = countedAt(route?.path ?? 'none');
      endpoint.count(status);
      endpoint.seconds(seconds);
    },
  };
};
