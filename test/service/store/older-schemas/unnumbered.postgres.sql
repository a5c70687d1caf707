
CREATE TABLE users (
  user_id bigint PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  external_id text COLLATE "C",
  profile JSONB, -- NULL while the user has banner events and no profile
  version bigint NOT NULL, -- counts the writes of the row
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

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
  properties JSONB
);
-- Not by time: by receipt each group adds to the end of a name, not all over it, for half of the writer's time.
CREATE INDEX events_by_name ON events (workspace_id, name, product_id, received_at);

CREATE TABLE banner_events (
  user_id bigint NOT NULL,
  banner_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL, -- impression, click or dismiss
  time timestamptz NOT NULL, -- as sent; a wrong clock may put it into the future
  workspace_id text COLLATE "C" NOT NULL,
  campaign_id text COLLATE "C" NOT NULL,
  variant_id text COLLATE "C", -- NULL of a control banner
  placement_id text COLLATE "C" NOT NULL,
  app_id text COLLATE "C" NOT NULL,
  is_control BOOLEAN NOT NULL,
  is_test_send BOOLEAN NOT NULL,
  received_at timestamptz NOT NULL,
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
  PRIMARY KEY (user_id, campaign_id)
);
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id);

CREATE TABLE data_points (
  workspace_id text COLLATE "C" NOT NULL,
  day date NOT NULL, -- UTC, such as 2026-03-01
  points bigint NOT NULL,
  PRIMARY KEY (workspace_id, day)
);

CREATE TABLE secrets (
  workspace_id text COLLATE "C" NOT NULL PRIMARY KEY,
  secret text COLLATE "C" NOT NULL
);

ALTER TABLE users SET (fillfactor = 70); -- room on the page for the next version of a row
ALTER TABLE events ADD PRIMARY KEY (user_id, event_id);
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

CREATE TABLE operator_sessions (
  session_id text COLLATE "C" NOT NULL PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  operator text COLLATE "C" NOT NULL,
  -- From an identity provider; NULL where the workspace file has it.
  role text COLLATE "C",
  people bigint NOT NULL,
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
