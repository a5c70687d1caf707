import type { IngestionRun } from '../service/index.ts';

/** Why a run failed: for metrics, whose labels must be few. The message of the run says more. */
export const RUN_FAILURES = ['source', 'rejects', 'timeout', 'process_ended'] as const;
export type RunFailure = (typeof RUN_FAILURES)[number];

/** A run that has ended. `failure` is `null` unless its status is `error`. */
export type EndedRun = IngestionRun & { failure: RunFailure | null };

/** The reason of a signal that stops a run because it has taken as long as one may. */
export class RunTimeoutError extends Error {
  override name = 'RunTimeoutError';
}
