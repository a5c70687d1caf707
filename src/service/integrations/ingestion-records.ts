import type { SqlRow } from '../sql/row-readers.ts';
import {
  bigint,
  defineRow,
  defineTable,
  enumText,
  json,
  orNull,
  pickFields,
  type RowOf,
  text,
  withDefault,
} from '../sql/table.ts';

/** Formats Unix microseconds, for example `2026-03-01T04:00:00.123456Z`. */
export const stampText = (timeUs: number): string => {
  const ms = Math.floor(timeUs / 1_000);
  return new Date(ms).toISOString().replace('Z', `${String(timeUs - ms * 1_000).padStart(3, '0')}Z`);
};

// Tables of integrations, as described in `docs/reference/sql-schema.md`. `Ms` is Unix milliseconds, `Us` Unix microseconds.

const integration = { workspaceId: text('workspace_id'), integrationId: text('integration_id') };
const runId = text('run_id');
/** `UPDATED_AT` of the last row read; `null` before the first. */
const watermarkUs = orNull(bigint('watermark_us'));

/** Progress of an integration, and the run that holds its lease. */
const INGESTION_STATE = defineTable(
  'ingestion_state',
  {
    ...integration,
    /** Run that holds the lease; `''` if none is in progress. */
    runId,
    leaseUntilMs: bigint('lease_until_ms'),
    /** Start of the last run, from which the schedule continues. */
    lastStartedAtMs: bigint('last_started_at_ms'),
    /** `null` if no run is requested. */
    requestedAtMs: orNull(bigint('requested_at_ms')),
    /** Number of consecutive runs before the current run whose process crashed. At 2 the schedule is suspended. */
    crashes: withDefault(bigint('crashes'), '0'),
    watermarkUs,
    watermarkSortKey: orNull(text('watermark_sort_key')),
    /** Time after which `ingestion_dedupe` has all stored rows; `null` without `lookback_seconds`. */
    dedupeSinceUs: orNull(bigint('dedupe_since_us')),
  },
  { key: 'workspace_id, integration_id', hasLargeRows: true },
);

/** Stored rows within `lookback_seconds` of the watermark, for deduplication. */
export const INGESTION_DEDUPE = defineTable(
  'ingestion_dedupe',
  {
    ...integration,
    untilUs: bigint('until_us'),
    batchId: text('batch_id'),
    /** Rows as `[UPDATED_AT, sort key]`, attributes also with a hash. */
    rows: json<readonly (readonly [timeUs: number, sortKey: string, hash?: string])[]>('rows'),
  },
  { key: 'workspace_id, integration_id, until_us, batch_id', hasLargeRows: true },
);

export const INGESTION_RUNS = defineTable(
  'ingestion_runs',
  {
    ...integration,
    /** Starts with the start time. */
    runId,
    trigger: enumText('trigger', ['schedule', 'manual']),
    status: enumText('status', ['running', 'success', 'partial', 'error']),
    startedAtMs: bigint('started_at_ms'),
    /** `null` while the run is in progress. */
    finishedAtMs: orNull(bigint('finished_at_ms')),
    watermarkUs,
    rowsSynced: bigint('rows_synced'),
    rowsFailed: bigint('rows_failed'),
    /** Reason that the run failed or is incomplete. */
    message: orNull(text('message')),
  },
  { key: 'workspace_id, integration_id, run_id', hasLargeRows: true },
);

/** Row that was not stored. */
const INGESTION_REJECT = defineRow({
  rejectId: text('reject_id'),
  /**
   * `invalid` rows fail a check of the API, and are read again by their key in later runs. `malformed` rows have no key or no
   * `UPDATED_AT`, or cannot be parsed, and are found again in every run.
   */
  kind: enumText('kind', ['invalid', 'malformed']),
  key: orNull(text('key')),
  /** Identifier of the row's user, as in `user_identifiers`; `null` if unknown. */
  userIdentifier: orNull(text('user_identifier')),
  /** `null` if the row has no valid time. */
  updatedAtUs: orNull(bigint('updated_at_us')),
  reason: text('reason'),
  /** Row as JSON, or line of the file: its first 20,000 characters. */
  payload: text('payload'),
  /** Hashes of the stored rows with the same key and `UPDATED_AT`, which later runs skip. */
  storedRows: json<readonly string[]>('stored_rows'),
});

/** Members of a reject that a run needs. */
export const OPEN_REJECT = pickFields(INGESTION_REJECT, [
  'rejectId',
  'kind',
  'key',
  'updatedAtUs',
  'storedRows',
]);

export const STORED_REJECT = defineRow({
  ...INGESTION_REJECT.fields,
  /** Last run that rejected the row. */
  runId,
  rejectedAtMs: bigint('rejected_at_ms'),
});

export const INGESTION_REJECTS = defineTable(
  'ingestion_rejects',
  { ...integration, ...STORED_REJECT.fields },
  {
    key: 'workspace_id, integration_id, reject_id',
    hasLargeRows: true,
    indexes: 'CREATE INDEX ingestion_rejects_of_user ON ingestion_rejects (workspace_id, user_identifier);\n',
  },
);

export const INGESTION_TABLES = [INGESTION_STATE, INGESTION_DEDUPE, INGESTION_RUNS, INGESTION_REJECTS];

/** One execution of an integration. */
export type IngestionRun = RowOf<typeof INGESTION_RUNS>;
export type IngestionReject = RowOf<typeof INGESTION_REJECT>;
export type OpenReject = RowOf<typeof OPEN_REJECT>;
export type StoredReject = RowOf<typeof STORED_REJECT>;

/** Position of the last row read, in the order of `UPDATED_AT` and sort key. */
export interface Watermark {
  /** Unix microseconds. */
  timeUs: number;
  sortKey: string;
}

/** Stored progress and lease of an integration. */
export type IngestionState = Omit<RowOf<typeof INGESTION_STATE>, 'watermarkUs' | 'watermarkSortKey'> & {
  watermark: Watermark | null;
};

export const toIngestionState = (row: SqlRow): IngestionState => {
  const { watermarkUs, watermarkSortKey, ...state } = INGESTION_STATE.read(row);
  const watermark = watermarkUs === null ? null : { timeUs: watermarkUs, sortKey: watermarkSortKey ?? '' };
  return { ...state, watermark };
};

/** Records of a batch other than its user changes. */
export interface BatchRecord {
  run: IngestionRun;
  watermark: Watermark | null;
  dedupeSinceUs: number | null;
  /** Rows of the batch to track individually. */
  storedRows: RowOf<typeof INGESTION_DEDUPE>['rows'];
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
  /**
   * Starts a run with a lease, and records a crashed previous run as failed. Returns the run and the state from which it continues;
   * `null` if another replica was faster.
   */
  acquireLease(options: LeaseOptions): Promise<{ run: IngestionRun; state: IngestionState } | null>;
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
  /** Returns all rejects, sorted by ID. */
  openRejects(workspaceId: string, integrationId: string): Promise<OpenReject[]>;
  countRejects(workspaceId: string): Promise<Map<string, number>>;
  /** Deletes the rejects of malformed rows that a run did not find again. */
  closeMalformedRejects(run: IngestionRun): Promise<void>;
  /** Returns stored rows newer than `sinceUs`. */
  storedRows(workspaceId: string, integrationId: string, sinceUs: number): Promise<BatchRecord['storedRows']>;
  /** Deletes rejects and runs from before these times. */
  prune(rejectsBeforeMs: number, runsBeforeMs: number): Promise<void>;
}
