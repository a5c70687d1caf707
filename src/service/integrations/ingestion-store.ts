import { type RunSql, readJson, readNumber, readText, type Statement } from '../row-readers.ts';
import {
  type BatchRecord,
  type IngestionRun,
  type IngestionStore,
  toIngestionRun,
  toIngestionState,
  toStoredReject,
} from './ingestion-records.ts';

const BY_INTEGRATION = 'workspace_id = $1 AND integration_id = $2';

/** Condition of a free lease: expired, or set by a clock that was ahead. */
const IS_FREE = `(ingestion_state.lease_until_ms < $5 OR ingestion_state.lease_until_ms > $6)`;

/** Inserts or updates no row if another process came first, because each acquisition changes `last_started_at_ms`. */
const ACQUIRE_LEASE = `INSERT INTO ingestion_state (workspace_id, integration_id, run_id, lease_until_ms, last_started_at_ms)
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (workspace_id, integration_id) DO UPDATE
  SET run_id = excluded.run_id, lease_until_ms = excluded.lease_until_ms, last_started_at_ms = excluded.last_started_at_ms,
    requested_at_ms = NULL,
    crashes = CASE WHEN ingestion_state.run_id = '' THEN 0 ELSE ingestion_state.crashes + 1 END
  WHERE ${IS_FREE} AND ingestion_state.last_started_at_ms = $7
  RETURNING run_id`;

const REQUEST = `INSERT INTO ingestion_state (workspace_id, integration_id, run_id, lease_until_ms, last_started_at_ms, requested_at_ms)
  VALUES ($1, $2, '', $3, $4, $5)
  ON CONFLICT (workspace_id, integration_id) DO UPDATE SET requested_at_ms = excluded.requested_at_ms
  WHERE ${IS_FREE} AND ingestion_state.requested_at_ms IS NULL
  RETURNING run_id`;

const ADD_RUN = `INSERT INTO ingestion_runs (workspace_id, integration_id, run_id, trigger, status, started_at_ms, rows_synced, rows_failed)
  VALUES ($1, $2, $3, $4, 'running', $5, 0, 0)`;
const PROCESS_ENDED = 'The process that ran it has ended; the next run continues from there';
const FAIL_ORPHANED_RUNS = `UPDATE ingestion_runs SET status = 'error', finished_at_ms = $3, message = $4
  WHERE ${BY_INTEGRATION} AND status = 'running'`;
const SAVE_RUN = `UPDATE ingestion_runs
  SET status = $4, finished_at_ms = $5, watermark_us = $6, rows_synced = $7, rows_failed = $8, message = $9
  WHERE ${BY_INTEGRATION} AND run_id = $3`;

/** Violates `NOT NULL` if another run holds the lease, so that nothing of the batch is stored. */
const MOVE_WATERMARK = `INSERT INTO ingestion_state (workspace_id, integration_id, run_id, lease_until_ms, last_started_at_ms,
    watermark_us, watermark_sort_key, dedupe_since_us)
  VALUES ($1, $2, $3, 0, 0, $4, $5, $6)
  ON CONFLICT (workspace_id, integration_id) DO UPDATE
  SET run_id = CASE WHEN ingestion_state.run_id = excluded.run_id THEN excluded.run_id END,
    watermark_us = excluded.watermark_us, watermark_sort_key = excluded.watermark_sort_key, dedupe_since_us = excluded.dedupe_since_us`;
const ADD_SEEN = `INSERT INTO ingestion_dedupe (workspace_id, integration_id, until_us, batch_id, rows) VALUES ($1, $2, $3, $4, $5)`;
const DELETE_SEEN = `DELETE FROM ingestion_dedupe WHERE ${BY_INTEGRATION} AND until_us <= $3`;
const ADD_REJECT = `INSERT INTO ingestion_rejects (workspace_id, integration_id, reject_id, kind, key, user_identifier, updated_at_us,
    reason, payload, run_id, rejected_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  ON CONFLICT (workspace_id, integration_id, reject_id) DO UPDATE
  SET kind = excluded.kind, key = excluded.key, user_identifier = excluded.user_identifier, updated_at_us = excluded.updated_at_us,
    reason = excluded.reason, payload = excluded.payload, run_id = excluded.run_id, rejected_at_ms = excluded.rejected_at_ms`;
const DELETE_REJECT = `DELETE FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND reject_id = $3`;

const RELEASE = `UPDATE ingestion_state
  SET run_id = '', lease_until_ms = 0, requested_at_ms = coalesce(requested_at_ms, CAST($4 AS BIGINT))
  WHERE ${BY_INTEGRATION} AND run_id = $3`;
const RELEASE_CRASHED = `UPDATE ingestion_state SET run_id = '', lease_until_ms = 0, crashes = crashes + 1
  WHERE ${BY_INTEGRATION} AND run_id = $3 AND lease_until_ms = $4 RETURNING run_id`;

const createSaveRun = (run: IngestionRun): Statement => ({
  sql: SAVE_RUN,
  values: [
    run.workspaceId,
    run.integrationId,
    run.runId,
    run.status,
    run.finishedAtMs,
    run.watermarkUs,
    run.rowsSynced,
    run.rowsFailed,
    run.message,
  ],
});

/**
 * Returns the statements that a batch adds to the transaction of its rows. The transaction fails if another run holds the lease.
 */
export const batchStatements = (record: BatchRecord): Statement[] => {
  const { run, watermark, dedupeSinceUs, storedRows, rejects, closedRejectIds, nowMs } = record;
  const integrationKey = [run.workspaceId, run.integrationId];
  const statements: Statement[] = [
    {
      sql: MOVE_WATERMARK,
      values: [
        ...integrationKey,
        run.runId,
        watermark?.timeUs ?? null,
        watermark?.sortKey ?? null,
        dedupeSinceUs,
      ],
    },
    createSaveRun(run),
  ];
  if (dedupeSinceUs !== null)
    statements.push({ sql: DELETE_SEEN, values: [...integrationKey, dedupeSinceUs] });
  if (storedRows.length > 0) {
    const untilUs = Math.max(...storedRows.map(([timeUs]) => timeUs));
    const batchId = `${run.runId} ${run.rowsSynced + run.rowsFailed}`;
    statements.push({
      sql: ADD_SEEN,
      values: [...integrationKey, untilUs, batchId, JSON.stringify(storedRows)],
    });
  }
  for (const rejectId of closedRejectIds)
    statements.push({ sql: DELETE_REJECT, values: [...integrationKey, rejectId] });
  for (const { rejectId, kind, key, userIdentifier, updatedAtUs, reason, payload } of rejects) {
    statements.push({
      sql: ADD_REJECT,
      values: [
        ...integrationKey,
        rejectId,
        kind,
        key,
        userIdentifier,
        updatedAtUs,
        reason,
        payload,
        run.runId,
        nowMs,
      ],
    });
  }
  return statements;
};

/** Works on either database: each method is one statement that both accept, or several idempotent ones. */
export const createIngestionStore = (run: RunSql): IngestionStore => ({
  async states(workspaceId) {
    const rows = await run('SELECT * FROM ingestion_state WHERE workspace_id = $1', [workspaceId]);
    return rows.map(toIngestionState);
  },

  async acquireLease({ workspaceId, integrationId, state, trigger, nowMs, leaseMs }) {
    const suffix = Math.floor(Math.random() * 2 ** 32).toString(36);
    const runId = `${new Date(nowMs).toISOString()} ${suffix}`;
    const integrationKey = [workspaceId, integrationId];
    const acquired = await run(ACQUIRE_LEASE, [
      ...integrationKey,
      runId,
      nowMs + leaseMs,
      nowMs,
      nowMs + 2 * leaseMs,
      state?.lastStartedAtMs ?? -1,
    ]);
    if (acquired.length === 0) return null;
    await run(FAIL_ORPHANED_RUNS, [...integrationKey, nowMs, PROCESS_ENDED]);
    await run(ADD_RUN, [...integrationKey, runId, trigger, nowMs]);
    return {
      workspaceId,
      integrationId,
      runId,
      trigger,
      status: 'running',
      startedAtMs: nowMs,
      finishedAtMs: null,
      watermarkUs: state?.watermark?.timeUs ?? null,
      rowsSynced: 0,
      rowsFailed: 0,
      message: null,
    };
  },

  async renew({ workspaceId, integrationId, runId }, untilMs) {
    const rows = await run(
      `UPDATE ingestion_state SET lease_until_ms = $4 WHERE ${BY_INTEGRATION} AND run_id = $3 RETURNING run_id`,
      [workspaceId, integrationId, runId, untilMs],
    );
    return rows.length > 0;
  },

  async finish(ended, requestedAtMs) {
    const { sql, values } = createSaveRun(ended);
    await run(sql, values);
    await run(RELEASE, [ended.workspaceId, ended.integrationId, ended.runId, requestedAtMs ?? null]);
  },

  async failOrphanedRun({ integrationId, runId, leaseUntilMs }, workspaceId, { nowMs, message }) {
    const integrationKey = [workspaceId, integrationId];
    const rows = await run(RELEASE_CRASHED, [...integrationKey, runId, leaseUntilMs]);
    if (rows.length > 0) await run(FAIL_ORPHANED_RUNS, [...integrationKey, nowMs, message]);
    return rows.length > 0;
  },

  async request(workspaceId, integrationId, nowMs) {
    const rows = await run(REQUEST, [workspaceId, integrationId, 0, 0, nowMs, Number.MAX_SAFE_INTEGER]);
    return rows.length > 0;
  },

  async runs(workspaceId, integrationId, { skip = 0, limit }) {
    const rows = await run(
      `SELECT * FROM ingestion_runs WHERE ${BY_INTEGRATION} ORDER BY run_id DESC LIMIT $3 OFFSET $4`,
      [workspaceId, integrationId, limit, skip],
    );
    return rows.map(toIngestionRun);
  },

  async lastRuns(workspaceId) {
    const rows = await run(
      `SELECT * FROM ingestion_runs WHERE workspace_id = $1 AND (integration_id, run_id) IN
         (SELECT integration_id, max(run_id) FROM ingestion_runs WHERE workspace_id = $1 GROUP BY integration_id)`,
      [workspaceId],
    );
    return rows.map(toIngestionRun);
  },

  async rejects(workspaceId, integrationId, { after = '', limit }) {
    const rows = await run(
      `SELECT * FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND reject_id > $3 ORDER BY reject_id LIMIT $4`,
      [workspaceId, integrationId, after, limit],
    );
    return rows.map(toStoredReject);
  },

  async rejectIds(workspaceId, integrationId, kind) {
    const rows = await run(
      `SELECT reject_id FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND kind = $3 ORDER BY 1`,
      [workspaceId, integrationId, kind],
    );
    return rows.map((row) => readText(row, 'reject_id'));
  },

  async countRejects(workspaceId) {
    const rows = await run(
      'SELECT integration_id, count(*) AS count FROM ingestion_rejects WHERE workspace_id = $1 GROUP BY integration_id',
      [workspaceId],
    );
    return new Map(rows.map((row) => [readText(row, 'integration_id'), readNumber(row, 'count')]));
  },

  async closeMalformedRejects({ workspaceId, integrationId, runId }) {
    await run(
      `DELETE FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND kind = 'malformed' AND run_id <> $3`,
      [workspaceId, integrationId, runId],
    );
  },

  async storedRows(workspaceId, integrationId, sinceUs) {
    const rows = await run(`SELECT rows FROM ingestion_dedupe WHERE ${BY_INTEGRATION} AND until_us > $3`, [
      workspaceId,
      integrationId,
      sinceUs,
    ]);
    return rows.flatMap((row) => readJson<[number, string][]>(row, 'rows'));
  },

  async prune(rejectsBeforeMs, runsBeforeMs) {
    await run('DELETE FROM ingestion_rejects WHERE rejected_at_ms < $1', [rejectsBeforeMs]);
    await run("DELETE FROM ingestion_runs WHERE started_at_ms < $1 AND status <> 'running'", [runsBeforeMs]);
  },
});
