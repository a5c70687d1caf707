import { INGESTION_TABLES } from '../integrations/records.ts';
import { STUDIO_TABLES } from './studio-store.ts';

/**
 * The tables of users, as `docs/data.md` describes them. Some types are words of our own: `MOMENT`, `DAY`, `BYTES`, `EVENT_ID`. An
 * `INTEGER` has 64 bits, an `INT` 32.
 */
const USER_TABLES = `
CREATE TABLE users (
  user_id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  external_id TEXT,
  profile JSON, -- NULL while the user has banner events and no profile
  version INTEGER NOT NULL, -- counts the writes of the row
  created_at MOMENT NOT NULL,
  updated_at MOMENT NOT NULL -- of the profile; without one, when the last banner event came
);

-- A client key makes them: retention deletes those of whom nothing comes any more.
CREATE INDEX users_without_profile ON users (workspace_id, updated_at) WHERE profile IS NULL;

CREATE TABLE user_keys (
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL, -- kind:value, such as email:kim@example.org
  user_id INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, key, user_id)
) WITHOUT ROWID;

-- Custom events have a name; purchases have a product_id, a price, a currency and a quantity.
CREATE TABLE events (
  event_id EVENT_ID,
  workspace_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  name TEXT,
  product_id TEXT,
  price FLOAT,
  currency TEXT,
  quantity INT,
  app_id TEXT,
  time MOMENT NOT NULL,
  received_at MOMENT NOT NULL,
  properties JSON
);

CREATE TABLE banner_events (
  user_id INTEGER NOT NULL,
  banner_id TEXT NOT NULL,
  event_type TEXT NOT NULL, -- impression, click or dismiss
  time MOMENT NOT NULL, -- as sent; a wrong clock may put it into the future
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT, -- NULL of a control banner
  placement_id TEXT NOT NULL,
  day TEXT NOT NULL, -- in the workspace's time zone, such as 2026-03-01: what the results count by
  app_id TEXT NOT NULL,
  is_control BOOLEAN NOT NULL,
  is_test_send BOOLEAN NOT NULL,
  received_at MOMENT NOT NULL,
  language TEXT, -- in which it was shown; NULL of a campaign that names none
  holdout_id TEXT, -- in whose results it counts as well
  -- Repeats are stored once. By campaign too: its results pass over what a user has of others.
  PRIMARY KEY (user_id, campaign_id, banner_id, event_type, time)
) WITHOUT ROWID;

-- What a decision needs to know of a user and a campaign; without test sends.
CREATE TABLE user_campaigns (
  user_id INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  variant_id TEXT, -- of the earliest impression
  is_control BOOLEAN NOT NULL,
  impressions INT NOT NULL,
  first_impression_at MOMENT,
  last_impression_at MOMENT,
  clicks INT NOT NULL,
  dismissals INT NOT NULL,
  last_dismissal_at MOMENT,
  round INT NOT NULL,
  parts JSON NOT NULL, -- [impressions, clicks, dismissals] by day:2026-03-01, placement:home_hero and language:pt-BR
  goals JSON NOT NULL DEFAULT '{}', -- [events, spent, currencies] by the goals that the user has reached
  PRIMARY KEY (user_id, campaign_id)
) WITHOUT ROWID;
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id, user_id);

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
) WITHOUT ROWID;

-- A change of the goals gets a version of its own, and counts all users anew.
CREATE TABLE campaign_goals (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  goals TEXT NOT NULL, -- JSON: ["86400000 event:signed_up"], with the time after the first impression in milliseconds
  version INTEGER NOT NULL,
  counted_to INTEGER, -- users up to this user_id are counted; NULL once all are
  PRIMARY KEY (workspace_id, campaign_id)
) WITHOUT ROWID;

-- Kept with every change of user_campaigns.goals, in lanes like campaign_counts.
CREATE TABLE goal_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL, -- '' of the control group
  goal TEXT NOT NULL, -- as in campaign_goals
  currencies TEXT NOT NULL, -- of what a user has spent: '', EUR, or EUR,PLN
  lane INT NOT NULL,
  converted INTEGER NOT NULL, -- users
  revenue FLOAT NOT NULL,
  squares FLOAT NOT NULL, -- of what each user has spent
  PRIMARY KEY (workspace_id, campaign_id, variant_id, goal, currencies, lane)
) WITHOUT ROWID;

CREATE TABLE data_points (
  workspace_id TEXT NOT NULL,
  day DAY NOT NULL, -- UTC, such as 2026-03-01
  lane INT NOT NULL, -- replicas add to lanes of their own: add these up
  points INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day, lane)
) WITHOUT ROWID;

CREATE TABLE secrets (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
) WITHOUT ROWID;
`;

const SQLITE_INDEXES = `
CREATE INDEX users_of_workspace ON users (workspace_id);
CREATE INDEX events_by_time ON events (workspace_id, time);
CREATE INDEX banner_events_by_time ON banner_events (workspace_id, time);
CREATE INDEX events_of_user ON events (user_id, time);
`;

const POSTGRES_INDEXES = `
ALTER TABLE users SET (fillfactor = 70); -- room on the page for the next version of a row
ALTER TABLE events ADD PRIMARY KEY (user_id, time, event_id);
-- Rows come in the order of time, nearly: a summary of their blocks finds the old ones and costs a write nothing.
CREATE INDEX events_by_time ON events USING brin (time) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX banner_events_by_time ON banner_events USING brin (time) WITH (pages_per_range = 32, autosummarize = on);
-- These name one user. Of two replicas that give one away at once, the second starts again.
CREATE UNIQUE INDEX user_keys_single ON user_keys (workspace_id, key)
  WHERE key ^@ 'external_id' OR key ^@ 'alias';
`;

/** Unlogged: after a crash of the database the windows begin anew. */
const RATE_WINDOWS = `
CREATE UNLOGGED TABLE rate_windows (
  key TEXT NOT NULL,
  start_at MOMENT NOT NULL,
  end_at MOMENT NOT NULL,
  taken INTEGER NOT NULL,
  PRIMARY KEY (key, start_at)
);
`;

/** Moments are Unix milliseconds. */
const SQLITE_TYPES: Record<string, string> = {
  EVENT_ID: 'INTEGER PRIMARY KEY',
  MOMENT: 'INTEGER',
  DAY: 'TEXT',
  BYTES: 'BLOB',
  BOOLEAN: 'INTEGER',
  FLOAT: 'REAL',
  JSON: 'TEXT',
};
const POSTGRES_TYPES: Record<string, string> = {
  EVENT_ID: 'bigint GENERATED ALWAYS AS IDENTITY',
  INTEGER: 'bigint',
  MOMENT: 'timestamptz',
  DAY: 'date',
  BYTES: 'bytea',
  TEXT: 'text COLLATE "C"',
};

const inTypes = (tables: string, types: Record<string, string>): string =>
  tables.replace(/\b[A-Z_]+\b/g, (word) => types[word] ?? word);

export const inSqlite = (tables: string): string =>
  inTypes(tables, SQLITE_TYPES)
    .replaceAll('\n) WITHOUT ROWID;', '\n) STRICT, WITHOUT ROWID;')
    .replaceAll('\n);', '\n) STRICT;');

export const inPostgres = (tables: string): string =>
  inTypes(tables, POSTGRES_TYPES).replaceAll('\n) WITHOUT ROWID;', '\n);');

export const SQLITE_TABLES = inSqlite(`${USER_TABLES}${SQLITE_INDEXES}${STUDIO_TABLES}${INGESTION_TABLES}`);

export const POSTGRES_TABLES = inPostgres(
  `${USER_TABLES}${POSTGRES_INDEXES}${RATE_WINDOWS}${STUDIO_TABLES}${INGESTION_TABLES}`,
);
