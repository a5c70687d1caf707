import { setTimeout as wait } from 'node:timers/promises';
import {
  errorFacts,
  type IngestionRun,
  type IngestionState,
  type Log,
  nextRunMs,
  type Store,
  type Workspace,
  type WorkspaceIntegration,
} from '../service/index.ts';
import { removeStagingLeftovers } from './files/staging-folder.ts';
import { runIntegration } from './run-integration.ts';

/** Between two looks at what is due: a run on demand begins within this. */
const POLL_MS = 1_000;
/** After the death of a process its runs go on elsewhere once this is over. */
const LEASE_MS = 30_000;
/** Runs of one process at once: each reads a source and takes a share of the writes. */
const MAX_RUNS = 2;
const DAY_MS = 24 * 3_600_000;
const KEEP_REJECTS_MS = 30 * DAY_MS;
const KEEP_RUNS_MS = 365 * DAY_MS;
const PRUNE_EVERY_MS = 3_600_000;

export interface IngestionOptions {
  store: Pick<Store, 'write' | 'ingestion'>;
  /** As they are now: a file that changes counts from the next look on. */
  workspaces(): readonly Workspace[];
  log: Log;
  /** Unix milliseconds. Default the system's clock. */
  now?: () => number;
  pollMs?: number;
  leaseMs?: number;
}

/** Why an integration is to run now; `null` where it is not. However many runs were missed, one is due. */
const causeOf = (
  { schedule }: WorkspaceIntegration,
  state: IngestionState | null,
  nowMs: number,
): IngestionRun['cause'] | null => {
  if (schedule.kind === 'never') return null;
  if (state?.requestedAtMs != null) return 'request';
  // A process that died has left its run.
  if (state && state.runId !== '') return 'schedule';
  if (schedule.kind === 'on_demand') return null;
  // The first run is due at once. A clock that was put back must not keep the next one waiting.
  const dueMs = state && state.begunAtMs > 0 ? nextRunMs(schedule, Math.min(state.begunAtMs, nowMs)) : 0;
  return dueMs !== null && dueMs <= nowMs ? 'schedule' : null;
};

/**
 * Runs the integrations that have a source, when their schedule or a request says so. Any number of replicas may do this: one of them
 * runs an integration. Returns what stops it; runs under way end, and go on when the service runs again.
 */
export const startIngestion = (options: IngestionOptions): (() => Promise<void>) => {
  const { store, workspaces, log, now = Date.now, pollMs = POLL_MS, leaseMs = LEASE_MS } = options;
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  /** Keeps the lease while a run is under way. */
  const withLease = async (run: IngestionRun, work: (signal: AbortSignal) => Promise<IngestionRun>) => {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    let isHeld = true;
    const renew = async () => {
      isHeld = await store.ingestion.renew(run, now() + leaseMs);
      if (!isHeld) lost.abort(new Error('Another process runs the integration'));
    };
    // Where the database is away for a moment, the next try may reach it.
    const timer = setInterval(() => renew().catch(() => undefined), leaseMs / 3);
    try {
      const ended = await work(signal);
      // A run that a stop has cut off is left as one that died: the next process goes on with it at once.
      if (ended.status === 'error' && stopping.signal.aborted) await store.ingestion.renew(run, 0);
      else if (isHeld) await store.ingestion.finish(ended);
      return ended;
    } finally {
      clearInterval(timer);
    }
  };

  const perform = async (
    workspace: Workspace,
    integration: WorkspaceIntegration,
    state: IngestionState | null,
    cause: IngestionRun['cause'],
  ) => {
    const { workspaceId } = workspace;
    const { record, source } = integration;
    const facts = { workspace: workspaceId, integration: record.integration_id };
    const run = await store.ingestion.claim({
      workspaceId,
      integrationId: record.integration_id,
      state,
      cause,
      nowMs: now(),
      leaseMs,
    });
    if (!run || !source) return;
    log.info(facts, 'integration runs');
    const ended = await withLease(run, (signal) =>
      runIntegration({
        store,
        workspace,
        source,
        state,
        run,
        holdsLease: () => store.ingestion.renew(run, now() + leaseMs),
        now,
        signal,
      }),
    );
    const { status, rowsSynced, rowsFailed } = ended;
    log.info({ ...facts, status, rows_synced: rowsSynced, rows_failed: rowsFailed }, 'integration ended');
  };

  const look = async (workspace: Workspace) => {
    const integrations = workspace.integrations?.filter(({ source }) => source !== null) ?? [];
    if (integrations.length === 0) return;
    const states = await store.ingestion.states(workspace.workspaceId);
    for (const integration of integrations) {
      const id = integration.record.integration_id;
      const name = JSON.stringify([workspace.workspaceId, id]);
      const state = states.find(({ integrationId }) => integrationId === id) ?? null;
      const isLeased =
        state !== null && state.leaseUntilMs > now() && state.leaseUntilMs < now() + 2 * leaseMs;
      const cause = isLeased ? null : causeOf(integration, state, now());
      if (cause === null || running.has(name) || running.size >= MAX_RUNS) continue;
      const done = perform(workspace, integration, state, cause)
        .catch((error: unknown) => log.error(errorFacts(error), 'integration not run'))
        .finally(() => running.delete(name));
      running.set(name, done);
    }
  };

  const prune = async () => {
    if (now() - prunedAtMs < PRUNE_EVERY_MS) return;
    await store.ingestion.prune(now() - KEEP_REJECTS_MS, now() - KEEP_RUNS_MS);
    prunedAtMs = now();
  };

  const poll = async () => {
    await removeStagingLeftovers().catch((error: unknown) =>
      log.error(errorFacts(error), 'staging leftovers not removed'),
    );
    while (!stopping.signal.aborted) {
      try {
        for (const workspace of workspaces()) await look(workspace);
        await prune();
      } catch (error) {
        log.error(errorFacts(error), 'integrations not looked at');
      }
      await wait(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  const polling = poll();

  return async () => {
    stopping.abort(new Error('The service was stopped; the next run goes on from there'));
    await polling;
    await Promise.all(running.values());
  };
};
