/**
 * What runs of integrations leave behind, for both databases, as `docs/data.md` describes it. `_ms` is Unix milliseconds, `_us`
 * microseconds.
 */
export const INGESTION_TABLES = `
-- How far an integration has come, and which run holds its lease.
CREATE TABLE ingestion_state (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  run_id TEXT NOT NULL, -- '' while nothing runs
  lease_until_ms INTEGER NOT NULL,
  begun_at_ms INTEGER NOT NULL, -- the schedule goes on from here
  requested_at_ms INTEGER, -- a run on demand that has not begun
  watermark_us INTEGER, -- UPDATED_AT and key of the last row that was read
  watermark_key TEXT,
  seen_since_us INTEGER, -- ingestion_seen has every row after this; NULL without lag_seconds
  PRIMARY KEY (workspace_id, integration_id)
);

-- Rows within lag_seconds of the watermark that are stored, so that none is stored again.
CREATE TABLE ingestion_seen (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  until_us INTEGER NOT NULL,
  batch_id TEXT NOT NULL,
  seen JSON NOT NULL, -- [[UPDATED_AT, key], …]
  PRIMARY KEY (workspace_id, integration_id, until_us, batch_id)
);

CREATE TABLE ingestion_runs (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  run_id TEXT NOT NULL, -- begins with the time of the start
  cause TEXT NOT NULL, -- schedule or request
  status TEXT NOT NULL, -- running, success, partial or error
  started_at_ms INTEGER NOT NULL,
  finished_at_ms INTEGER,
  watermark_us INTEGER,
  rows_synced INTEGER NOT NULL,
  rows_failed INTEGER NOT NULL,
  note TEXT, -- why it failed, or what it could not do yet
  PRIMARY KEY (workspace_id, integration_id, run_id)
);

CREATE TABLE ingestion_rejects (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  reject_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- refused: by the rules of a request; unusable: has no key, no UPDATED_AT, or cannot be read
  key TEXT,
  external_id TEXT, -- for the erasure of a user
  updated_at_us INTEGER,
  reason TEXT NOT NULL,
  payload TEXT NOT NULL, -- the row as JSON, or the line
  run_id TEXT NOT NULL, -- the last run that rejected it
  rejected_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, integration_id, reject_id)
);
CREATE INDEX ingestion_rejects_of_user ON ingestion_rejects (workspace_id, external_id);
`;

/** Takes a user out of the rejects. */
export const forgetRejects = (workspaceId: string, externalId: string): string =>
  `DELETE FROM ingestion_rejects WHERE workspace_id = ${workspaceId} AND external_id = ${externalId}`;
