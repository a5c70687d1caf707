import {
  readEnum,
  readNumber,
  readNumberOrNull,
  readText,
  readTextOrNull,
  type SqlRow,
} from '../row-readers.ts';

/** Formats Unix microseconds, for example `2026-03-01T04:00:00.123456Z`. */
export const stampText = (timeUs: number): string => {
  const ms = Math.floor(timeUs / 1_000);
  return new Date(ms).toISOString().replace('Z', `${String(timeUs - ms * 1_000).padStart(3, '0')}Z`);
};

/** Tables of integrations, for both databases, as described in `docs/reference/sql-schema.md`. `_ms` is Unix milliseconds, `_us` microseconds. */
export const INGESTION_TABLES = `
-- Progress of an integration, and the run that holds its lease.
CREATE TABLE ingestion_state (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  run_id TEXT NOT NULL, -- '' if none
  lease_until_ms INTEGER NOT NULL,
  last_started_at_ms INTEGER NOT NULL, -- the schedule continues from here
  requested_at_ms INTEGER, -- queued run on demand
  crashes INTEGER NOT NULL DEFAULT 0, -- consecutive runs that ended with their process; at 2 the schedule is suspended
  watermark_us INTEGER, -- UPDATED_AT of the last row read, in microseconds
  watermark_sort_key TEXT,
  dedupe_since_us INTEGER, -- ingestion_dedupe has every row after this; NULL without lookback_seconds
  PRIMARY KEY (workspace_id, integration_id)
);

-- Stored rows within lookback_seconds of the watermark, for deduplication.
CREATE TABLE ingestion_dedupe (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  until_us INTEGER NOT NULL,
  batch_id TEXT NOT NULL,
  rows JSON NOT NULL, -- [[UPDATED_AT, key], …]
  PRIMARY KEY (workspace_id, integration_id, until_us, batch_id)
);

CREATE TABLE ingestion_runs (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  run_id TEXT NOT NULL, -- starts with the start time
  trigger TEXT NOT NULL, -- schedule or manual
  status TEXT NOT NULL, -- running, success, partial or error
  started_at_ms INTEGER NOT NULL,
  finished_at_ms INTEGER,
  watermark_us INTEGER,
  rows_synced INTEGER NOT NULL,
  rows_failed INTEGER NOT NULL,
  message TEXT, -- error, or the reason that newer rows wait
  PRIMARY KEY (workspace_id, integration_id, run_id)
);

CREATE TABLE ingestion_rejects (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  reject_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- invalid: fails a check of the API; malformed: no key, no UPDATED_AT, or cannot be parsed
  key TEXT,
  user_identifier TEXT, -- as in user_identifiers, for the erasure of the user
  updated_at_us INTEGER,
  reason TEXT NOT NULL,
  payload TEXT NOT NULL, -- the row as JSON, or the line: its first 20,000 characters
  run_id TEXT NOT NULL, -- the last run that rejected it
  rejected_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, integration_id, reject_id)
);
CREATE INDEX ingestion_rejects_of_user ON ingestion_rejects (workspace_id, user_identifier);
`;

const TRIGGERS = ['schedule', 'manual'] as const;
const STATUSES = ['running', 'success', 'partial', 'error'] as const;
const KINDS = ['invalid', 'malformed'] as const;

/** One execution of an integration. */
export interface IngestionRun {
  workspaceId: string;
  integrationId: string;
  runId: string;
  trigger: (typeof TRIGGERS)[number];
  status: (typeof STATUSES)[number];
  startedAtMs: number;
  /** `null` while the run is in progress. */
  finishedAtMs: number | null;
  /** `UPDATED_AT` of the last row read, in Unix microseconds; `null` before the first. */
  watermarkUs: number | null;
  rowsSynced: number;
  rowsFailed: number;
  /** Reason that the run failed or is incomplete. */
  message: string | null;
}

/** Position of the last row read, in the order of `UPDATED_AT` and sort key. */
export interface Watermark {
  /** Unix microseconds. */
  timeUs: number;
  sortKey: string;
}

/** Stored progress and lease of an integration. */
export interface IngestionState {
  integrationId: string;
  /** Run that holds the lease; `''` if none is in progress. */
  runId: string;
  leaseUntilMs: number;
  /** Start of the last run. */
  lastStartedAtMs: number;
  /** `null` if no run is requested. */
  requestedAtMs: number | null;
  /** Number of consecutive runs before the current run whose process crashed. */
  crashes: number;
  watermark: Watermark | null;
  /** Unix microseconds after which stored rows are tracked individually; `null` if none are. */
  dedupeSinceUs: number | null;
}

/** Row that was not stored. */
export interface IngestionReject {
  rejectId: string;
  /** `invalid` rows are read again by their key in later runs. `malformed` rows are found again in every run. */
  kind: (typeof KINDS)[number];
  key: string | null;
  /** Identifier of the row's user, as in `user_identifiers`; `null` if unknown. */
  userIdentifier: string | null;
  /** Unix microseconds; `null` if the row has no valid time. */
  updatedAtUs: number | null;
  reason: string;
  /** Row as JSON, or line of the file. */
  payload: string;
}

export type StoredReject = IngestionReject & { runId: string; rejectedAtMs: number };

/** Records of a batch other than its user changes. */
export interface BatchRecord {
  run: IngestionRun;
  watermark: Watermark | null;
  dedupeSinceUs: number | null;
  /** Rows of the batch to track individually, as `[UPDATED_AT, sort key]`. */
  storedRows: readonly (readonly [number, string])[];
  rejects: readonly IngestionReject[];
  /** IDs of resolved rejects. */
  closedRejectIds: readonly string[];
  nowMs: number;
}

interface LeaseOptions {
  workspaceId: string;
  integrationId: string;
  /** State as read by the caller; `null` if the integration has never run. */
  state: IngestionState | null;
  trigger: IngestionRun['trigger'];
  nowMs: number;
  leaseMs: number;
}

/** Leases and runs of integrations, in the database so that all replicas share them. */
export interface IngestionStore {
  states(workspaceId: string): Promise<IngestionState[]>;
  /** Starts a run with a lease, and records a crashed previous run as failed. Returns `null` if another replica was faster. */
  acquireLease(options: LeaseOptions): Promise<IngestionRun | null>;
  /** Extends the lease. Returns false if another run holds it. */
  renew(run: IngestionRun, untilMs: number): Promise<boolean>;
  /** Stores the end of a run, and releases its lease. With `requestedAtMs`, the next run is due at once. */
  finish(run: IngestionRun, requestedAtMs?: number): Promise<void>;
  /** Records the crash of a run's process without starting another run. Returns false if another replica was faster. */
  failOrphanedRun(
    state: IngestionState,
    workspaceId: string,
    ended: { nowMs: number; message: string },
  ): Promise<boolean>;
  /** Requests a run. Returns false if a run is in progress or already requested. */
  request(workspaceId: string, integrationId: string, nowMs: number): Promise<boolean>;
  /** Returns runs, newest first. */
  runs(
    workspaceId: string,
    integrationId: string,
    page: { skip?: number; limit: number },
  ): Promise<IngestionRun[]>;
  /** Returns the newest run of each integration. */
  lastRuns(workspaceId: string): Promise<IngestionRun[]>;
  /** Returns rejects sorted by ID. */
  rejects(
    workspaceId: string,
    integrationId: string,
    page: { after?: string; limit: number },
  ): Promise<StoredReject[]>;
  /** Returns the IDs of all rejects of a kind. */
  rejectIds(workspaceId: string, integrationId: string, kind: IngestionReject['kind']): Promise<string[]>;
  countRejects(workspaceId: string): Promise<Map<string, number>>;
  /** Deletes the rejects of malformed rows that a run did not find again. */
  closeMalformedRejects(run: IngestionRun): Promise<void>;
  /** Returns stored rows newer than `sinceUs`, as `[UPDATED_AT, sort key]`. */
  storedRows(workspaceId: string, integrationId: string, sinceUs: number): Promise<[number, string][]>;
  /** Deletes rejects and runs from before these times. */
  prune(rejectsBeforeMs: number, runsBeforeMs: number): Promise<void>;
}

export const toIngestionRun = (row: SqlRow): IngestionRun => ({
  workspaceId: readText(row, 'workspace_id'),
  integrationId: readText(row, 'integration_id'),
  runId: readText(row, 'run_id'),
  trigger: readEnum(row, 'trigger', TRIGGERS),
  status: readEnum(row, 'status', STATUSES),
  startedAtMs: readNumber(row, 'started_at_ms'),
  finishedAtMs: readNumberOrNull(row, 'finished_at_ms'),
  watermarkUs: readNumberOrNull(row, 'watermark_us'),
  rowsSynced: readNumber(row, 'rows_synced'),
  rowsFailed: readNumber(row, 'rows_failed'),
  message: readTextOrNull(row, 'message'),
});

export const toIngestionState = (row: SqlRow): IngestionState => {
  const timeUs = readNumberOrNull(row, 'watermark_us');
  return {
    integrationId: readText(row, 'integration_id'),
    runId: readText(row, 'run_id'),
    leaseUntilMs: readNumber(row, 'lease_until_ms'),
    lastStartedAtMs: readNumber(row, 'last_started_at_ms'),
    requestedAtMs: readNumberOrNull(row, 'requested_at_ms'),
    crashes: readNumber(row, 'crashes'),
    watermark: timeUs === null ? null : { timeUs, sortKey: readText(row, 'watermark_sort_key') },
    dedupeSinceUs: readNumberOrNull(row, 'dedupe_since_us'),
  };
};

export const toStoredReject = (row: SqlRow): StoredReject => ({
  rejectId: readText(row, 'reject_id'),
  kind: readEnum(row, 'kind', KINDS),
  key: readTextOrNull(row, 'key'),
  userIdentifier: readTextOrNull(row, 'user_identifier'),
  updatedAtUs: readNumberOrNull(row, 'updated_at_us'),
  reason: readText(row, 'reason'),
  payload: readText(row, 'payload'),
  runId: readText(row, 'run_id'),
  rejectedAtMs: readNumber(row, 'rejected_at_ms'),
});
