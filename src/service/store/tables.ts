import { EVENT_TYPES } from '../../protocol/index.ts';
import { INGESTION_TABLES } from '../integrations/records.ts';
import { MEASURES } from '../profiles/measures.ts';
import { IS_COUNTED_CLICK } from '../results/button-results.ts';
import { RESULTS_TABLES } from '../results/tables.ts';
import { WEBHOOK_TABLES } from '../webhooks/webhook-store.ts';
import { STUDIO_TABLES } from './studio-store.ts';

const MEASURE_COLUMNS = MEASURES.map(
  ({ events, lastAt }) => `  ${events} INT NOT NULL,\n  ${lastAt} TIMESTAMP,`,
).join('\n');

/**
 * Tables of users (see `docs/reference/sql-schema.md`). `TIMESTAMP`, `DAY`, `BYTES` and `EVENT_ID` are placeholders for types of the
 * database. `INTEGER` has 64 bits, `INT` has 32.
 */
const USER_TABLES = `
CREATE TABLE users (
  user_id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  external_id TEXT,
  profile JSON, -- NULL if the user has only banner events
  version INTEGER NOT NULL, -- number of writes of the row
  created_at TIMESTAMP NOT NULL,
  updated_at TIMESTAMP NOT NULL -- time of the last profile change; without a profile, of the last banner event
);

-- Finds stub users, whom client keys create and retention deletes.
CREATE INDEX users_without_profile ON users (workspace_id, updated_at) WHERE profile IS NULL;

CREATE TABLE user_identifiers (
  workspace_id TEXT NOT NULL,
  identifier TEXT NOT NULL, -- kind:value, such as email:kim@example.org
  user_id INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, identifier, user_id)
) WITHOUT ROWID;

-- Custom events have a name; purchases have a product_id, a price, a currency and a quantity.
CREATE TABLE events (
  event_id EVENT_ID, -- in commit order, never reused
  workspace_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  name TEXT,
  product_id TEXT,
  price FLOAT,
  currency TEXT,
  quantity INT,
  app_id TEXT,
  occurred_at TIMESTAMP NOT NULL,
  received_at TIMESTAMP NOT NULL,
  properties JSON
);

CREATE TABLE banner_events (
  banner_event_id EVENT_ID, -- in commit order, never reused
  user_id INTEGER NOT NULL,
  banner_id TEXT NOT NULL,
  event_type TEXT NOT NULL, -- ${EVENT_TYPES.join(', ')}
  occurred_at TIMESTAMP NOT NULL, -- as sent; may be in the future if the clock is wrong
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT, -- NULL for a control banner
  placement_id TEXT NOT NULL,
  day TEXT NOT NULL, -- day in the results, in the workspace's time zone, such as 2026-03-01
  app_id TEXT NOT NULL,
  is_control BOOLEAN NOT NULL,
  is_test_send BOOLEAN NOT NULL,
  is_first BOOLEAN NOT NULL, -- whether it is the user's first event of its type for the campaign
  received_at TIMESTAMP NOT NULL,
  language TEXT, -- language of the banner; NULL if the campaign has none
  holdout_id TEXT, -- holdout whose results also count the event
  button_id TEXT -- link or button that was clicked; NULL if unknown
);

-- Corrections to the feed: changes of users after their events were read.
CREATE TABLE user_changes (
  change_id EVENT_ID, -- in commit order, never reused
  workspace_id TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  kind TEXT NOT NULL, -- merged, erased, expired or duplicate
  into_user_id INTEGER, -- target of a merge
  changed_at TIMESTAMP NOT NULL,
  banner_event JSON -- kind duplicate: the removed row
);

-- State of a user in a campaign, which a sync reads. Excludes test sends.
CREATE TABLE user_campaigns (
  user_id INTEGER NOT NULL,
  campaign_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  variant_id TEXT, -- variant of the earliest impression
  is_control BOOLEAN NOT NULL,
  first_impression_at TIMESTAMP,
${MEASURE_COLUMNS}
  round INT NOT NULL,
  PRIMARY KEY (user_id, campaign_id)
) WITHOUT ROWID;

CREATE TABLE data_points (
  workspace_id TEXT NOT NULL,
  day DAY NOT NULL, -- UTC, such as 2026-03-01
  shard INT NOT NULL, -- counter shard; the total is the sum of all shards
  points INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, day, shard)
) WITHOUT ROWID;

CREATE TABLE secrets (
  workspace_id TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
) WITHOUT ROWID;
`;

/** Contains all columns that results by button read. */
const BUTTON_INDEX = `
CREATE INDEX banner_events_by_button ON banner_events (workspace_id, campaign_id, day, variant_id, button_id, user_id)
  WHERE ${IS_COUNTED_CLICK};
`;

const SQLITE_INDEXES = `
CREATE INDEX users_of_workspace ON users (workspace_id);
-- Events by user, up to the cursor "user_events" of the feed. Filled in batches, because an index on events would write a page for each.
CREATE TABLE user_events (
  user_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, event_id)
) STRICT, WITHOUT ROWID;
INSERT INTO feed_cursors (consumer, events, banner_events, user_changes, applied_change_ids, last_received_at) VALUES ('user_events', 0, 0, 0, '[]', 0);
CREATE TRIGGER event_deleted AFTER DELETE ON events BEGIN
  DELETE FROM user_events WHERE user_id = OLD.user_id AND event_id = OLD.event_id;
END;
CREATE TRIGGER event_moved AFTER UPDATE OF user_id ON events BEGIN
  UPDATE user_events SET user_id = NEW.user_id WHERE user_id = OLD.user_id AND event_id = OLD.event_id;
END;
-- Deduplicates. Includes the campaign, because decisions read by user and campaign.
CREATE UNIQUE INDEX banner_events_of_user ON banner_events (user_id, campaign_id, banner_id, event_type, occurred_at);
CREATE INDEX banner_events_by_time ON banner_events (workspace_id, min(occurred_at, received_at));
${BUTTON_INDEX}`;

const POSTGRES_INDEXES = `
ALTER TABLE users SET (fillfactor = 70); -- leaves space for HOT updates
ALTER TABLE events ADD PRIMARY KEY (user_id, occurred_at, event_id);
ALTER TABLE banner_events ADD PRIMARY KEY (user_id, campaign_id, banner_id, event_type, occurred_at);
CREATE INDEX events_in_order ON events (event_id);
CREATE INDEX banner_events_in_order ON banner_events (banner_event_id);
CREATE INDEX user_changes_in_order ON user_changes (change_id);
-- BRIN, because rows are nearly in time order and writes stay cheap.
CREATE INDEX banner_events_by_time ON banner_events
  USING brin (least(occurred_at, received_at)) WITH (pages_per_range = 32, autosummarize = on);
${BUTTON_INDEX}-- Unique identifiers. If two replicas assign one at once, the second retries.
CREATE UNIQUE INDEX user_identifiers_single ON user_identifiers (workspace_id, identifier)
  WHERE identifier ^@ 'external_id' OR identifier ^@ 'alias';
`;

/** Unlogged, so the windows start from zero after a crash of the database. */
const RATE_WINDOWS = `
CREATE UNLOGGED TABLE rate_windows (
  key TEXT NOT NULL,
  start_at TIMESTAMP NOT NULL,
  end_at TIMESTAMP NOT NULL,
  leased INTEGER NOT NULL,
  PRIMARY KEY (key, start_at)
);
`;

/** Types of SQLite. Times are Unix milliseconds. */
const SQLITE_TYPES: Record<string, string> = {
  EVENT_ID: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  TIMESTAMP: 'INTEGER',
  DAY: 'TEXT',
  BYTES: 'BLOB',
  BOOLEAN: 'INTEGER',
  FLOAT: 'REAL',
  JSON: 'TEXT',
};
const POSTGRES_TYPES: Record<string, string> = {
  EVENT_ID: 'bigint GENERATED ALWAYS AS IDENTITY',
  INTEGER: 'bigint',
  TIMESTAMP: 'timestamptz',
  DAY: 'date',
  BYTES: 'bytea',
  TEXT: 'text COLLATE "C"',
};

const inTypes = (tables: string, types: Record<string, string>): string =>
  tables.replace(/\b[A-Z_]+\b/g, (word) => types[word] ?? word);

const inSqlite = (tables: string): string =>
  inTypes(tables, SQLITE_TYPES)
    .replaceAll('\n) WITHOUT ROWID;', '\n) STRICT, WITHOUT ROWID;')
    .replaceAll('\n);', '\n) STRICT;');

const inPostgres = (tables: string): string =>
  inTypes(tables, POSTGRES_TYPES).replaceAll('\n) WITHOUT ROWID;', '\n);');

export const SQLITE_TABLES = `${inSqlite(
  `${USER_TABLES}${RESULTS_TABLES}${STUDIO_TABLES}${INGESTION_TABLES}${WEBHOOK_TABLES}`,
)}${SQLITE_INDEXES}`;

export const POSTGRES_TABLES = inPostgres(
  `${USER_TABLES}${RESULTS_TABLES}${POSTGRES_INDEXES}${RATE_WINDOWS}${STUDIO_TABLES}${INGESTION_TABLES}${WEBHOOK_TABLES}`,
);
