
CREATE TABLE users (
  user_id bigint PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  external_id text COLLATE "C",
  profile JSON, -- NULL while the user has banner events and no profile
  version bigint NOT NULL, -- counts the writes of the row
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL -- of the profile; without one, when the last banner event came
);

-- A client key makes them: retention deletes those of whom nothing comes any more.
CREATE INDEX users_without_profile ON users (workspace_id, updated_at) WHERE profile IS NULL;

CREATE TABLE user_keys (
  workspace_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL, -- kind:value, such as email:kim@example.org
  user_id bigint NOT NULL,
  PRIMARY KEY (workspace_id, key, user_id)
);

-- Custom events have a name; purchases have a product_id, a price, a currency and a quantity.
CREATE TABLE events (
  event_id bigint GENERATED ALWAYS AS IDENTITY,
  workspace_id text COLLATE "C" NOT NULL,
  user_id bigint NOT NULL,
  name text COLLATE "C",
  product_id text COLLATE "C",
  price FLOAT,
  currency text COLLATE "C",
  quantity INT,
  app_id text COLLATE "C",
  time timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  properties JSON
);

CREATE TABLE banner_events (
  user_id bigint NOT NULL,
  banner_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL, -- impression, click or dismiss
  time timestamptz NOT NULL, -- as sent; a wrong clock may put it into the future
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  variant_id text COLLATE "C", -- NULL of a control banner
  placement_id text COLLATE "C" NOT NULL,
  day text COLLATE "C" NOT NULL, -- in the workspace's time zone, such as 2026-03-01: what the results count by
  app_id text COLLATE "C" NOT NULL,
  is_control BOOLEAN NOT NULL,
  is_test_send BOOLEAN NOT NULL,
  received_at timestamptz NOT NULL,
  language text COLLATE "C", -- in which it was shown; NULL of a campaign that names none
  holdout_id text COLLATE "C", -- in whose results it counts as well
  -- Repeats are stored once. By campaign too: its results pass over what a user has of others.
  PRIMARY KEY (user_id, campaign_id, banner_id, event_type, time)
);

-- What a decision needs to know of a user and a campaign; without test sends.
CREATE TABLE user_campaigns (
  user_id bigint NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  variant_id text COLLATE "C", -- of the earliest impression
  is_control BOOLEAN NOT NULL,
  impressions INT NOT NULL,
  first_impression_at timestamptz,
  last_impression_at timestamptz,
  clicks INT NOT NULL,
  dismissals INT NOT NULL,
  last_dismissal_at timestamptz,
  round INT NOT NULL,
  parts JSON NOT NULL, -- [impressions, clicks, dismissals] by day:2026-03-01, placement:home_hero and language:pt-BR
  goals JSON NOT NULL DEFAULT '{}', -- [events, spent, currencies] by the goals that the user has reached
  PRIMARY KEY (user_id, campaign_id)
);
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id, user_id);

-- The results of campaigns, kept with every change of user_campaigns. Replicas add to lanes of their own: add these up.
CREATE TABLE campaign_counts (
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  variant_id text COLLATE "C" NOT NULL, -- '' of the control group
  part text COLLATE "C" NOT NULL, -- '' for all, else as in user_campaigns
  lane INT NOT NULL,
  impressions bigint NOT NULL,
  clicks bigint NOT NULL,
  dismissals bigint NOT NULL,
  exposed bigint NOT NULL, -- users with an impression
  clicked bigint NOT NULL,
  dismissed bigint NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id, variant_id, part, lane)
);

-- A change of the goals gets a version of its own, and counts all users anew.
CREATE TABLE campaign_goals (
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  goals text COLLATE "C" NOT NULL, -- JSON: ["86400000 event:signed_up"], with the time after the first impression in milliseconds
  version bigint NOT NULL,
  counted_to bigint, -- users up to this user_id are counted; NULL once all are
  PRIMARY KEY (workspace_id, campaign_id)
);

-- Kept with every change of user_campaigns.goals, in lanes like campaign_counts.
CREATE TABLE goal_counts (
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  variant_id text COLLATE "C" NOT NULL, -- '' of the control group
  goal text COLLATE "C" NOT NULL, -- as in campaign_goals
  currencies text COLLATE "C" NOT NULL, -- of what a user has spent: '', EUR, or EUR,PLN
  lane INT NOT NULL,
  converted bigint NOT NULL, -- users
  revenue FLOAT NOT NULL,
  squares FLOAT NOT NULL, -- of what each user has spent
  PRIMARY KEY (workspace_id, campaign_id, variant_id, goal, currencies, lane)
);

CREATE TABLE data_points (
  workspace_id text COLLATE "C" NOT NULL,
  day date NOT NULL, -- UTC, such as 2026-03-01
  lane INT NOT NULL, -- replicas add to lanes of their own: add these up
  points bigint NOT NULL,
  PRIMARY KEY (workspace_id, day, lane)
);

CREATE TABLE secrets (
  workspace_id text COLLATE "C" NOT NULL PRIMARY KEY,
  secret text COLLATE "C" NOT NULL
);

ALTER TABLE users SET (fillfactor = 70); -- room on the page for the next version of a row
ALTER TABLE events ADD PRIMARY KEY (user_id, time, event_id);
-- Rows come in the order of time, nearly: a summary of their blocks finds the old ones and costs a write nothing.
CREATE INDEX events_by_time ON events USING brin (time) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX banner_events_by_time ON banner_events USING brin (time) WITH (pages_per_range = 32, autosummarize = on);
-- These name one user. Of two replicas that give one away at once, the second starts again.
CREATE UNIQUE INDEX user_keys_single ON user_keys (workspace_id, key)
  WHERE key ^@ 'external_id' OR key ^@ 'alias';

CREATE UNLOGGED TABLE rate_windows (
  key text COLLATE "C" NOT NULL,
  start_at timestamptz NOT NULL,
  end_at timestamptz NOT NULL,
  taken bigint NOT NULL,
  PRIMARY KEY (key, start_at)
);

CREATE TABLE releases (
  workspace_id text COLLATE "C" NOT NULL,
  release bigint NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  campaign JSON,
  based_on bigint NOT NULL,
  author text COLLATE "C" NOT NULL,
  note text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  live_at_ms bigint NOT NULL,
  PRIMARY KEY (workspace_id, release),
  -- Of two releases that continue the same one, the second is a conflict.
  UNIQUE (workspace_id, campaign_id, based_on)
);

CREATE TABLE drafts (
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  campaign JSON NOT NULL,
  revision text COLLATE "C" NOT NULL,
  based_on bigint NOT NULL,
  editor text COLLATE "C" NOT NULL,
  updated_at_ms bigint NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id)
);

CREATE TABLE pictures (
  hash text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  width bigint NOT NULL,
  height bigint NOT NULL,
  size bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  author text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (hash, workspace_id)
);

CREATE TABLE operator_sessions (
  session_id text COLLATE "C" NOT NULL PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  operator text COLLATE "C" NOT NULL,
  -- The hash of a key, or what an identity provider has said.
  proof JSON NOT NULL,
  created_at_ms bigint NOT NULL,
  seen_at_ms bigint NOT NULL
);

CREATE TABLE operator_audit (
  workspace_id text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  operator text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  details text COLLATE "C" NOT NULL,
  PRIMARY KEY (workspace_id, at_ms, entry_id)
);
-- For the erasure of a user.
CREATE INDEX operator_audit_of_user ON operator_audit (workspace_id, subject) WHERE action = 'look at user';

-- How far an integration has come, and which run holds its lease.
CREATE TABLE ingestion_state (
  workspace_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL, -- '' while nothing runs
  lease_until_ms bigint NOT NULL,
  begun_at_ms bigint NOT NULL, -- the schedule goes on from here
  requested_at_ms bigint, -- a run on demand that has not begun
  watermark_us bigint, -- UPDATED_AT and key of the last row that was read
  watermark_key text COLLATE "C",
  seen_since_us bigint, -- ingestion_seen has every row after this; NULL without lag_seconds
  PRIMARY KEY (workspace_id, integration_id)
);

-- Rows within lag_seconds of the watermark that are stored, so that none is stored again.
CREATE TABLE ingestion_seen (
  workspace_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  until_us bigint NOT NULL,
  batch_id text COLLATE "C" NOT NULL,
  seen JSON NOT NULL, -- [[UPDATED_AT, key], …]
  PRIMARY KEY (workspace_id, integration_id, until_us, batch_id)
);

CREATE TABLE ingestion_runs (
  workspace_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL, -- begins with the time of the start
  cause text COLLATE "C" NOT NULL, -- schedule or request
  status text COLLATE "C" NOT NULL, -- running, success, partial or error
  started_at_ms bigint NOT NULL,
  finished_at_ms bigint,
  watermark_us bigint,
  rows_synced bigint NOT NULL,
  rows_failed bigint NOT NULL,
  note text COLLATE "C", -- why it failed, or what it could not do yet
  PRIMARY KEY (workspace_id, integration_id, run_id)
);

CREATE TABLE ingestion_rejects (
  workspace_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  reject_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL, -- refused: by the rules of a request; unusable: has no key, no UPDATED_AT, or cannot be read
  key text COLLATE "C",
  external_id text COLLATE "C", -- for the erasure of a user
  updated_at_us bigint,
  reason text COLLATE "C" NOT NULL,
  payload text COLLATE "C" NOT NULL, -- the row as JSON, or the line: its first 20,000 characters
  run_id text COLLATE "C" NOT NULL, -- the last run that rejected it
  rejected_at_ms bigint NOT NULL,
  PRIMARY KEY (workspace_id, integration_id, reject_id)
);
CREATE INDEX ingestion_rejects_of_user ON ingestion_rejects (workspace_id, external_id);
