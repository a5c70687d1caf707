import { type RunSql, readNumber, readText, type Statement } from '../sql/row-readers.ts';
import { createInsert, createUpsert } from '../sql/writes.ts';
import {
  type BatchRecord,
  INGESTION_DEDUPE,
  INGESTION_REJECTS,
  INGESTION_RUNS,
  type IngestionRun,
  type IngestionStore,
  OPEN_REJECT,
  STORED_REJECT,
  toIngestionState,
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
  RETURNING *`;

const REQUEST = `INSERT INTO ingestion_state (workspace_id, integration_id, run_id, lease_until_ms, last_started_at_ms, requested_at_ms)
  VALUES ($1, $2, '', $3, $4, $5)
  ON CONFLICT (workspace_id, integration_id) DO UPDATE SET requested_at_ms = excluded.requested_at_ms
  WHERE ${IS_FREE} AND ingestion_state.requested_at_ms IS NULL
  RETURNING run_id`;

const addRun = createInsert(INGESTION_RUNS);
const PROCESS_ENDED = 'The process that ran it has ended; the next run continues from there';
const FAIL_ORPHANED_RUNS = `UPDATE ingestion_runs SET status = 'error', finished_at_ms = $3, message = $4
  WHERE ${BY_INTEGRATION} AND status = 'running'`;
const saveRun = createUpsert(INGESTION_RUNS);

/** Violates `NOT NULL` if another run holds the lease, so that nothing of the batch is stored. */
const MOVE_WATERMARK = `INSERT INTO ingestion_state (workspace_id, integration_id, run_id, lease_until_ms, last_started_at_ms,
    watermark_us, watermark_sort_key, dedupe_since_us)
  VALUES ($1, $2, $3, 0, 0, $4, $5, $6)
  ON CONFLICT (workspace_id, integration_id) DO UPDATE
  SET run_id = CASE WHEN ingestion_state.run_id = excluded.run_id THEN excluded.run_id END,
    watermark_us = excluded.watermark_us, watermark_sort_key = excluded.watermark_sort_key, dedupe_since_us = excluded.dedupe_since_us`;
const addStoredRows = createInsert(INGESTION_DEDUPE);
const DELETE_STORED_ROWS = `DELETE FROM ingestion_dedupe WHERE ${BY_INTEGRATION} AND until_us <= $3`;
const addReject = createUpsert(INGESTION_REJECTS);
const DELETE_REJECT = `DELETE FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND reject_id = $3`;

const RELEASE = `UPDATE ingestion_state
  SET run_id = '', lease_until_ms = 0, requested_at_ms = coalesce(requested_at_ms, CAST($4 AS BIGINT))
  WHERE ${BY_INTEGRATION} AND run_id = $3`;
const RELEASE_CRASHED = `UPDATE ingestion_state SET run_id = '', lease_until_ms = 0, crashes = crashes + 1
  WHERE ${BY_INTEGRATION} AND run_id = $3 AND lease_until_ms = $4 RETURNING run_id`;

/**
 * Returns the statements that a batch adds to the transaction of its rows. The transaction fails if another run holds the lease.
 */
export const batchStatements = (record: BatchRecord): Statement[] => {
  const { run, watermark, dedupeSinceUs, storedRows, rejects, closedRejectIds, nowMs } = record;
  const { workspaceId, integrationId, runId } = run;
  const integrationKey = [workspaceId, integrationId];
  const statements: Statement[] = [
    {
      sql: MOVE_WATERMARK,
      values: [
        ...integrationKey,
        runId,
        watermark?.timeUs ?? null,
        watermark?.sortKey ?? null,
        dedupeSinceUs,
      ],
    },
    saveRun(run),
  ];
  if (dedupeSinceUs !== null)
    statements.push({ sql: DELETE_STORED_ROWS, values: [...integrationKey, dedupeSinceUs] });
  if (storedRows.length > 0) {
    const untilUs = Math.max(...storedRows.map(([timeUs]) => timeUs));
    const batchId = `${runId} ${run.rowsSynced + run.rowsFailed}`;
    statements.push(addStoredRows({ workspaceId, integrationId, untilUs, batchId, rows: storedRows }));
  }
  for (const rejectId of closedRejectIds)
    statements.push({ sql: DELETE_REJECT, values: [...integrationKey, rejectId] });
  for (const reject of rejects)
    statements.push(addReject({ ...reject, workspaceId, integrationId, runId, rejectedAtMs: nowMs }));
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
    const [row] = acquired;
    if (!row) return null;
    // The previous run may have stored rows since the caller read the state.
    const leased = toIngestionState(row);
    await run(FAIL_ORPHANED_RUNS, [...integrationKey, nowMs, PROCESS_ENDED]);
    const started: IngestionRun = {
      workspaceId,
      integrationId,
      runId,
      trigger,
      status: 'running',
      startedAtMs: nowMs,
      finishedAtMs: null,
      watermarkUs: leased.watermark?.timeUs ?? null,
      rowsSynced: 0,
      rowsFailed: 0,
      message: null,
    };
    const { sql, values } = addRun(started);
    await run(sql, values);
    return { run: started, state: leased };
  },

  async renew({ workspaceId, integrationId, runId }, untilMs) {
    const rows = await run(
      `UPDATE ingestion_state SET lease_until_ms = $4 WHERE ${BY_INTEGRATION} AND run_id = $3 RETURNING run_id`,
      [workspaceId, integrationId, runId, untilMs],
    );
    return rows.length > 0;
  },

  async finish(ended, requestedAtMs) {
    const { sql, values } = saveRun(ended);
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
    return rows.map(INGESTION_RUNS.read);
  },

  async lastRuns(workspaceId) {
    const rows = await run(
      `SELECT * FROM ingestion_runs WHERE workspace_id = $1 AND (integration_id, run_id) IN
         (SELECT integration_id, max(run_id) FROM ingestion_runs WHERE workspace_id = $1 GROUP BY integration_id)`,
      [workspaceId],
    );
    return rows.map(INGESTION_RUNS.read);
  },

  async rejects(workspaceId, integrationId, { after = '', limit }) {
    const rows = await run(
      `SELECT * FROM ingestion_rejects WHERE ${BY_INTEGRATION} AND reject_id > $3 ORDER BY reject_id LIMIT $4`,
      [workspaceId, integrationId, after, limit],
    );
    return rows.map(STORED_REJECT.read);
  },

  async openRejects(workspaceId, integrationId) {
    const columns = OPEN_REJECT.columns.map(({ name }) => name).join(', ');
    const rows = await run(
      `SELECT ${columns} FROM ingestion_rejects WHERE ${BY_INTEGRATION} ORDER BY reject_id`,
      [workspaceId, integrationId],
    );
    return rows.map(OPEN_REJECT.read);
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
    return rows.flatMap((row) => INGESTION_DEDUPE.fields.rows.read(row));
  },

  async prune(rejectsBeforeMs, runsBeforeMs) {
    await run('DELETE FROM ingestion_rejects WHERE rejected_at_ms < $1', [rejectsBeforeMs]);
    await run("DELETE FROM ingestion_runs WHERE started_at_ms < $1 AND status <> 'running'", [runsBeforeMs]);
  },
});
