
CREATE TABLE users (
  user_id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  external_id TEXT,
  profile TEXT, -- NULL while the user has banner events and no profile
  version INTEGER NOT NULL, -- counts the writes of the row
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL -- of the profile; without one, when the last banner event came
) STRICT;

-- A client key makes them: retention deletes those of whom nothing comes any more.
CREATE INDEX users_without_profile ON users (workspace_id, updated_at) WHERE profile IS NULL;

CREATE TABLE user_keys (
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL, -- kind:value, such as email:kim@example.org
  user_id INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, key, user_id)
) STRICT, WITHOUT ROWID;

-- Custom events have a name; purchases have a product_id, a price, a currency and a quantity.
CREATE TABLE events (
  event_id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  name TEXT,
  product_id TEXT,
  price REAL,
  currency TEXT,
  quantity INT,
  app_id TEXT,
  time INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  properties TEXT
) STRICT;
-- Not by time: by receipt each group adds to the end of a name, not all over it, for half of the writer's time.
CREATE INDEX events_by_name ON events (workspace_id, name, product_id, received_at);

CREATE TABLE banner_events (
  user_id INTEGER NOT NULL,
  banner_id TEXT NOT NULL,
  event_type TEXT NOT NULL, -- impression, click or dismiss
  time INTEGER NOT NULL, -- as sent; a wrong clock may put it into the future
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT, -- NULL of a control banner
  placement_id TEXT NOT NULL,
  day TEXT NOT NULL, -- in the workspace's time zone, such as 2026-03-01: what the results count by
  app_id TEXT NOT NULL,
  is_control INTEGER NOT NULL,
  is_test_send INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  -- Repeats are stored once. By campaign too: its results pass over what a user has of others.
  PRIMARY KEY (user_id, campaign_id, banner_id, event_type, time)
) STRICT, WITHOUT ROWID;

-- What a decision needs to know of a user and a campaign; without test sends.
CREATE TABLE user_campaigns (
  user_id INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  variant_id TEXT, -- of the earliest impression
  is_control INTEGER NOT NULL,
  impressions INT NOT NULL,
  first_impression_at INTEGER,
  last_impression_at INTEGER,
  clicks INT NOT NULL,
  dismissals INT NOT NULL,
  last_dismissal_at INTEGER,
  round INT NOT NULL,
  parts TEXT NOT NULL, -- [impressions, clicks, dismissals] by day:2026-03-01 and by placement:home_hero
  PRIMARY KEY (user_id, campaign_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id);

-- The results of campaigns, kept with every change of user_campaigns. Replicas add to lanes of their own: add these up.
CREATE TABLE campaign_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' of the control group
  part TEXT NOT NULL, -- '' for all, else as in user_campaigns
  lane INT NOT NULL,
  impressions INTEGER NOT NULL,
  clicks INTEGER NOT NULL,
  dismissals INTEGER NOT NULL,
  exposed INTEGER NOT NULL, -- users with an impression
  clicked INTEGER NOT NULL,
  dismissed INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id, variant_id, part, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE data_points (
  workspace_id TEXT NOT NULL,
  day TEXT NOT NULL, -- UTC, such as 2026-03-01
  lane INT NOT NULL, -- replicas add to lanes of their own: add these up
  points INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day, lane)
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_of_workspace ON users (workspace_id);
CREATE INDEX events_by_time ON events (workspace_id, time);
CREATE INDEX banner_events_by_time ON banner_events (workspace_id, time);
CREATE INDEX events_of_user ON events (user_id);

CREATE TABLE releases (
  workspace_id TEXT NOT NULL,
  release INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign TEXT,
  based_on INTEGER NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  live_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, release),
  -- Of two releases that continue the same one, the second is a conflict.
  UNIQUE (workspace_id, campaign_id, based_on)
) STRICT;

CREATE TABLE drafts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  campaign TEXT NOT NULL,
  revision TEXT NOT NULL,
  based_on INTEGER NOT NULL,
  editor TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id)
) STRICT;

CREATE TABLE operator_sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  -- The hash of a key, or what an identity provider has said.
  proof TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE operator_audit (
  workspace_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  entry_id TEXT NOT NULL,
  operator TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (workspace_id, at_ms, entry_id)
) STRICT;
-- For the erasure of a user.
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = 'look at user';

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
) STRICT;

-- Rows within lag_seconds of the watermark that are stored, so that none is stored again.
CREATE TABLE ingestion_seen (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  until_us INTEGER NOT NULL,
  batch_id TEXT NOT NULL,
  seen TEXT NOT NULL, -- [[UPDATED_AT, key], …]
  PRIMARY KEY (workspace_id, integration_id, until_us, batch_id)
) STRICT;

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
) STRICT;

CREATE TABLE ingestion_rejects (
  workspace_id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  reject_id TEXT NOT NULL,
  kind TEXT NOT NULL, -- refused: by the rules of a request; unusable: has no key, no UPDATED_AT, or cannot be read
  key TEXT,
  external_id TEXT, -- for the erasure of a user
  updated_at_us INTEGER,
  reason TEXT NOT NULL,
  payload TEXT NOT NULL, -- the row as TEXT, or the line
  run_id TEXT NOT NULL, -- the last run that rejected it
  rejected_at_ms INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, integration_id, reject_id)
) STRICT;
CREATE INDEX ingestion_rejects_of_user ON ingestion_rejects (workspace_id, external_id);
