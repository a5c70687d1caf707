import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { inTime } from '../in-time.ts';
import type { Store } from '../store/store.ts';
import { createRequestMetrics } from './request-metrics.ts';
import { createStoreMetrics } from './store-metrics.ts';

/** Days of data points among the metrics; `placard export data-points` has them all. */
const POINT_DAYS = 31;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A scraper gives up after some ten seconds. */
const POINTS_MS = 2_000;

const daysOf = async (store: Store, workspaceIds: readonly string[]) => {
  const days: { workspaceId: string; day: string; count: number }[] = [];
  for (const workspaceId of workspaceIds) {
    for await (const { day, points } of store.dataPoints(workspaceId)) {
      days.push({ workspaceId, day, count: points });
    }
  }
  return days;
};

let ofProcess: Registry | undefined;

/** Memory, event loop and garbage are the process's: what watches them is there once, however many services are. */
const processRegistry = (): Registry => {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
};

/** The metrics of one service, in Prometheus form. */
export const createMetrics = () => {
  const registry = new Registry();
  const shared = processRegistry();
  const points = new Gauge({
    name: 'placard_data_points',
    help: 'Data points by workspace and UTC day.',
    labelNames: ['workspace', 'day'],
    registers: [registry],
  });

  return {
    contentType: registry.contentType,
    ...createRequestMetrics(registry),
    ...createStoreMetrics(registry),

    /** Prometheus text. */
    async text(workspaceIds: readonly string[], store: Store, nowMs: number): Promise<string> {
      const oldest = new Date(nowMs - POINT_DAYS * DAY_MS).toISOString().slice(0, 10);
      // While the database is away the other metrics show it: only the database's own numbers are missing.
      const days = await inTime(daysOf(store, workspaceIds), POINTS_MS);
      points.reset();
      for (const { workspaceId, day, count } of days ?? []) {
        if (day > oldest) points.labels(workspaceId, day).set(count);
      }
      return Registry.merge([shared, registry]).metrics();
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
