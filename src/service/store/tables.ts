import { INGESTION_TABLES } from '../integrations/ingestion-records.ts';
import { IS_COUNTED_BUTTON } from '../results/button-results.ts';
import { RESULTS_TABLES } from '../results/tables.ts';
import { formatColumnNames } from '../sql/columns.ts';
import { FEED_TABLES } from '../sql/feed.ts';
import { defineTable, int } from '../sql/table.ts';
import { BANNER_EVENT_KEY, USER_EVENTS, USER_TABLES } from '../sql/user-tables.ts';
import { WEBHOOK_TABLES } from '../webhooks/webhook-store.ts';
import { RATE_WINDOWS } from './rate-windows.ts';
import { STUDIO_TABLES } from './studio-store.ts';

// Definitions use placeholders for types of the database. `INTEGER` has 64 bits, `INT` has 32.

const formatDefinitions = (tables: readonly { definition: string }[]): string =>
  tables.map(({ definition }) => definition).join('\n');

/** Tables of both databases. */
export const TABLES = [
  ...USER_TABLES,
  ...RESULTS_TABLES,
  ...STUDIO_TABLES,
  ...INGESTION_TABLES,
  ...WEBHOOK_TABLES,
];

/** One row. SQLite stores the number in the header of the file. */
export const SCHEMA_VERSION = defineTable('placard_schema', { version: int('version') });

export const TABLES_BY_DATABASE = {
  sqlite: [...TABLES, USER_EVENTS],
  postgres: [...TABLES, RATE_WINDOWS, SCHEMA_VERSION],
};

/** Contains all columns that results by button read. */
const BUTTON_INDEX = `
CREATE INDEX banner_events_by_button ON banner_events (workspace_id, campaign_id, day, variant_id, button_id, event_type, user_id)
  WHERE ${IS_COUNTED_BUTTON};
`;

const STUB_INDEX = `
-- Finds stub users, whom client keys create and retention deletes.
CREATE INDEX users_without_profile ON users (workspace_id, updated_at) WHERE profile IS NULL;
`;

const SQLITE_INDEXES = `${STUB_INDEX}
CREATE INDEX users_of_workspace ON users (workspace_id);
CREATE TRIGGER event_deleted AFTER DELETE ON events BEGIN
  DELETE FROM user_events WHERE user_id = OLD.user_id AND event_id = OLD.event_id;
END;
CREATE TRIGGER event_moved AFTER UPDATE OF user_id ON events BEGIN
  UPDATE user_events SET user_id = NEW.user_id WHERE user_id = OLD.user_id AND event_id = OLD.event_id;
END;
CREATE UNIQUE INDEX banner_events_of_user ON banner_events (${formatColumnNames(BANNER_EVENT_KEY.columns)});
CREATE INDEX banner_events_by_time ON banner_events (workspace_id, min(occurred_at, received_at));
${BUTTON_INDEX}`;

const POSTGRES_INDEXES = `${STUB_INDEX}
ALTER TABLE users SET (fillfactor = 70); -- leaves space for HOT updates
ALTER TABLE events ADD PRIMARY KEY (user_id, occurred_at, event_id);
ALTER TABLE banner_events ADD PRIMARY KEY (${formatColumnNames(BANNER_EVENT_KEY.columns)});
${Object.values(FEED_TABLES)
  .map(({ name, idColumn }) => `CREATE INDEX ${name}_in_order ON ${name} (${idColumn});`)
  .join('\n')}
-- BRIN, because rows are nearly in time order and writes stay cheap.
CREATE INDEX banner_events_by_time ON banner_events
  USING brin (least(occurred_at, received_at)) WITH (pages_per_range = 32, autosummarize = on);
${BUTTON_INDEX}-- Unique identifiers. If two replicas assign one at once, the second retries.
CREATE UNIQUE INDEX user_identifiers_single ON user_identifiers (workspace_id, identifier)
  WHERE identifier ^@ 'external_id' OR identifier ^@ 'alias';
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

export const SQLITE_TABLES = inSqlite(formatDefinitions(TABLES_BY_DATABASE.sqlite)) + SQLITE_INDEXES;

export const POSTGRES_TABLES = inPostgres(formatDefinitions(TABLES_BY_DATABASE.postgres) + POSTGRES_INDEXES);
