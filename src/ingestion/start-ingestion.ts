import { DAY_MS, HOUR_MS, MINUTE_MS } from '../protocol/index.ts';
import {
  type IngestionRun,
  type IngestionState,
  type Log,
  nextRunMs,
  repeatUntilAborted,
  type Store,
  serializeError,
  type Workspace,
  type WorkspaceIntegration,
} from '../service/index.ts';
import { removeStagingLeftovers } from './files/staging-folder.ts';
import { runIntegration } from './run-integration.ts';
import { type EndedRun, RunTimeoutError } from './run-outcome.ts';
import { SourceError } from './source-error.ts';

/** Polling interval, which is also the maximum delay of a run on demand. */
const POLL_MS = 1_000;
/** Duration of a lease. After it, another process continues the runs of a crashed process. */
const LEASE_MS = 30_000;
/** Maximum duration of a run, because an endless source would block other runs. */
const RUN_MS = HOUR_MS;
/** Maximum consecutive crashes before an integration stops running. */
const MAX_CRASHES = 2;
/** Maximum concurrent runs per process, because each takes a share of the writes. */
const MAX_RUNS = 2;
const KEEP_REJECTS_MS = 30 * DAY_MS;
const KEEP_RUNS_MS = 365 * DAY_MS;
const PRUNE_EVERY_MS = HOUR_MS;

export interface IngestionOptions {
  store: Pick<Store, 'write' | 'ingestion'>;
  /** Returns the current workspaces, read at each poll. */
  workspaces(): readonly Workspace[];
  log: Log;
  /** Returns Unix milliseconds. Default: the system clock. */
  now?: () => number;
  pollMs?: number;
  leaseMs?: number;
  /** Maximum duration of a run in milliseconds. Default: one hour. */
  runMs?: number;
  /** Called after each run. */
  onRun?: (run: EndedRun) => void;
}

const SUSPENDED =
  'The process ended during this run and during the one before: the schedule is suspended until a run is requested';
const PAUSED = 'The process that ran it has ended, and the integration is paused';

/** Returns the trigger of a due integration; `null` if it is not due. Several missed runs count as one. */
const getTrigger = (
  { schedule }: WorkspaceIntegration,
  state: IngestionState | null,
  nowMs: number,
): IngestionRun['trigger'] | null => {
  if (schedule.kind === 'paused') return null;
  if (state?.requestedAtMs != null) return 'manual';
  if (state && state.crashes >= MAX_CRASHES) return null;
  // A crashed process left this run.
  if (state && state.runId !== '') return 'schedule';
  if (schedule.kind === 'on_demand') return null;
  // The first run is due at once. Setting the clock back must not delay the next run.
  const dueMs =
    state && state.lastStartedAtMs > 0 ? nextRunMs(schedule, Math.min(state.lastStartedAtMs, nowMs)) : 0;
  return dueMs !== null && dueMs <= nowMs ? 'schedule' : null;
};

interface Due {
  integration: WorkspaceIntegration;
  state: IngestionState | null;
  trigger: IngestionRun['trigger'];
}

/**
 * Runs integrations with a source, on schedule or on request. Safe with any number of replicas, because only one replica runs an
 * integration at a time. Returns a stop function. Interrupted runs continue after a restart.
 */
export const startIngestion = (options: IngestionOptions): (() => Promise<void>) => {
  const { store, workspaces, log, onRun, now = Date.now, pollMs = POLL_MS } = options;
  const { leaseMs = LEASE_MS, runMs = RUN_MS } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  /** Whether a run after a crash is active. It runs alone, to identify the integration that crashes the process. */
  let isRecovering = false;
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  /** Renews the lease during a run, and stops the run after its maximum duration. */
  const withLease = async (run: IngestionRun, work: (signal: AbortSignal) => Promise<EndedRun>) => {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, stopping.signal]);
    let isHeld = true;
    const renew = async () => {
      isHeld = await store.ingestion.renew(run, now() + leaseMs);
      if (!isHeld) stop.abort(new SourceError('another process runs the integration'));
    };
    // Ignores a failed renewal, because the next one may succeed.
    const timer = setInterval(() => renew().catch(() => undefined), leaseMs / 3);
    const minutes = Math.round(runMs / MINUTE_MS);
    const deadline = setTimeout(
      () =>
        stop.abort(
          new RunTimeoutError(`Stopped after ${minutes} minutes; the next run continues from there`),
        ),
      runMs,
    );
    try {
      const ended = await work(signal);
      const hasTimedOut = stop.signal.reason instanceof RunTimeoutError && ended.status !== 'error';
      // The rest of an interrupted run is due at once, after other waiting runs.
      const isStopped = stopping.signal.aborted && ended.status === 'error';
      if (isHeld) await store.ingestion.finish(ended, hasTimedOut || isStopped ? now() : undefined);
      return ended;
    } finally {
      clearInterval(timer);
      clearTimeout(deadline);
    }
  };

  const report = (run: EndedRun) => {
    const { workspaceId: workspace, integrationId: integration, status, message } = run;
    const fields = {
      workspace,
      integration,
      status,
      rows_synced: run.rowsSynced,
      rows_failed: run.rowsFailed,
    };
    const runFields = { ...fields, ...(message !== null && { message }) };
    if (status === 'error' && !stopping.signal.aborted) log.error(runFields, 'integration failed');
    else log.info(runFields, 'integration ended');
    onRun?.(run);
  };

  const runDue = async (workspace: Workspace, { integration, state, trigger }: Due) => {
    const { workspaceId } = workspace;
    const { record, source } = integration;
    const fields = { workspace: workspaceId, integration: record.integration_id };
    const lease = await store.ingestion.acquireLease({
      workspaceId,
      integrationId: record.integration_id,
      state,
      trigger,
      nowMs: now(),
      leaseMs,
    });
    if (!lease || !source) return;
    const { run } = lease;
    log.info(fields, 'integration runs');
    const holdsLease = () => store.ingestion.renew(run, now() + leaseMs);
    report(
      await withLease(run, (signal) =>
        runIntegration({ store, workspace, source, ...lease, holdsLease, now, signal }),
      ),
    );
  };

  const isLeased = ({ leaseUntilMs }: IngestionState) =>
    leaseUntilMs > now() && leaseUntilMs < now() + 2 * leaseMs;
  const isOrphaned = (state: IngestionState | null): state is IngestionState =>
    state !== null && state.runId !== '' && !isLeased(state);

  /** Ends crashed runs that no process continues, because they crashed repeatedly or their integration is paused. */
  const failOrphanedRun = async (
    workspaceId: string,
    schedule: WorkspaceIntegration['schedule'],
    state: IngestionState,
  ) => {
    const isPaused = schedule.kind === 'paused';
    if (!isPaused && state.crashes + 1 < MAX_CRASHES) return false;
    const message = isPaused ? PAUSED : SUSPENDED;
    if (!(await store.ingestion.failOrphanedRun(state, workspaceId, { nowMs: now(), message }))) return true;
    const [run] = await store.ingestion.runs(workspaceId, state.integrationId, { limit: 1 });
    if (run) report({ ...run, failure: 'process_ended' });
    return true;
  };

  const pollWorkspace = async (workspace: Workspace) => {
    const { workspaceId } = workspace;
    const integrations = workspace.integrations?.filter(({ source }) => source !== null) ?? [];
    if (integrations.length === 0) return;
    const states = await store.ingestion.states(workspaceId);
    for (const integration of integrations) {
      const { record, schedule } = integration;
      const id = record.integration_id;
      const name = JSON.stringify([workspaceId, id]);
      const state = states.find(({ integrationId }) => integrationId === id) ?? null;
      if (running.has(name) || (state && isLeased(state))) continue;
      const isRecovery = isOrphaned(state);
      if (isRecovery && (await failOrphanedRun(workspaceId, schedule, state))) continue;
      const trigger = getTrigger(integration, state, now());
      if (trigger === null || isRecovering || running.size >= (isRecovery ? 1 : MAX_RUNS)) continue;
      isRecovering = isRecovery;
      const done = runDue(workspace, { integration, state, trigger })
        .catch((error: unknown) => log.error(serializeError(error), 'integration failed to start'))
        .finally(() => {
          running.delete(name);
          if (isRecovery) isRecovering = false;
        });
      running.set(name, done);
    }
  };

  const prune = async () => {
    if (now() - prunedAtMs < PRUNE_EVERY_MS) return;
    await store.ingestion.prune(now() - KEEP_REJECTS_MS, now() - KEEP_RUNS_MS);
    prunedAtMs = now();
  };

  const poll = async () => {
    for (const workspace of workspaces()) await pollWorkspace(workspace);
    await prune();
  };
  const polling = removeStagingLeftovers()
    .catch((error: unknown) => log.error(serializeError(error), 'staging leftovers not removed'))
    .then(() =>
      repeatUntilAborted(poll, {
        everyMs: pollMs,
        signal: stopping.signal,
        onError: (error) => log.error(serializeError(error), 'polling integrations failed'),
      }),
    );

  return async () => {
    stopping.abort(new SourceError('the service was stopped; the next run continues from there'));
    await polling;
    await Promise.all(running.values());
  };
};
