import type { IngestionRun } from '../service/index.ts';

/** Reasons of failed runs, for a metric label with few values. The run's message contains the details. */
export const RUN_FAILURES = ['source', 'rejects', 'timeout', 'process_ended'] as const;
export type RunFailure = (typeof RUN_FAILURES)[number];

/** Ended run. `failure` is `null` unless `status` is `error`. */
export type EndedRun = IngestionRun & { failure: RunFailure | null };

/** Abort reason if a run exceeds its maximum duration. */
export class RunTimeoutError extends Error {
  override name = 'RunTimeoutError';
}
