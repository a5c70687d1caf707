
CREATE TABLE users (
  user_id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  external_id TEXT,
  profile TEXT, -- NULL while the user has banner events and no profile
  version INTEGER NOT NULL, -- counts the writes of the row
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

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
  PRIMARY KEY (user_id, campaign_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id);

CREATE TABLE data_points (
  workspace_id TEXT NOT NULL,
  day TEXT NOT NULL, -- UTC, such as 2026-03-01
  points INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_of_workspace ON users (workspace_id);
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
  -- From an identity provider; NULL where the workspace file has it.
  role TEXT,
  people INTEGER NOT NULL,
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
