import type { DatabaseSync } from 'node:sqlite';
import { SQLITE_STUDIO_TABLES } from '../studio/tables.ts';

/** Each entry brings a file from the version that is its index to the next one. Never edit one that was released. */
const MIGRATIONS: string[] = [
  `
  -- A row may be behind: what came after its version is in journal and events, and is brought in later.
  CREATE TABLE users (
    id INTEGER PRIMARY KEY, -- the serial inside the user's braze_id
    workspace_id TEXT NOT NULL,
    profile TEXT NOT NULL,
    version INTEGER NOT NULL -- the last request that the row knows of
  ) STRICT;

  -- Attributes as a request left them, until the rows of users know.
  CREATE TABLE journal (
    request INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    attributes TEXT NOT NULL
  ) STRICT;

  -- How far requests are counted, and up to which one every row of users knows all.
  CREATE TABLE progress (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last_request INTEGER NOT NULL,
    settled_request INTEGER NOT NULL
  ) STRICT;
  INSERT INTO progress VALUES (1, 0, 0);

  -- Where users are found: a letter for the kind (x external ID, a alias, e e-mail, p phone), then the value.
  CREATE TABLE user_keys (
    workspace_id TEXT NOT NULL,
    key TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key, user_id)
  ) STRICT, WITHOUT ROWID;

  -- Events and purchases: one row holds what one request brought.
  CREATE TABLE events (
    request INTEGER PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    received_at_ms INTEGER NOT NULL,
    newest_ms INTEGER NOT NULL, -- the latest time of an event in the row
    events TEXT NOT NULL
  ) STRICT;

  CREATE TABLE banner_events (
    workspace_id TEXT NOT NULL,
    external_user_id TEXT NOT NULL,
    banner_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    timestamp_ms INTEGER NOT NULL,
    app_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    variant_id TEXT,
    placement_id TEXT NOT NULL,
    is_control INTEGER NOT NULL,
    is_test_send INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    received_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, external_user_id, banner_id, event_type, timestamp_ms)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dismissals (
    workspace_id TEXT NOT NULL,
    external_user_id TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    dismissed_at_ms INTEGER NOT NULL,
    banner_id TEXT NOT NULL, -- the last one that was dismissed
    count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, external_user_id, campaign_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE data_points (
    workspace_id TEXT NOT NULL,
    day TEXT NOT NULL,
    points INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE secrets (workspace_id TEXT PRIMARY KEY, secret TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  SQLITE_STUDIO_TABLES,
];

export const SQLITE_VERSION = MIGRATIONS.length;

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);

/** Throws where the file was written by a newer Placard. */
export const checkVersion = (database: DatabaseSync, file: string): number => {
  const version = versionOf(database);
  if (version > SQLITE_VERSION) {
    throw new Error(
      `${file} has schema version ${version}, this Placard knows versions up to ${SQLITE_VERSION}: use a newer Placard or another file`,
    );
  }
  return version;
};

/** Throws where the file is not of this Placard's version: whoever only visits brings nothing forward. */
export const checkIsCurrent = (database: DatabaseSync, file: string): void => {
  if (checkVersion(database, file) < SQLITE_VERSION) {
    throw new Error(`${file} is of an older Placard: start the service once, which brings it forward`);
  }
};

/** Throws where a file that no service has made has tables: it is another program's. */
const checkIsOurs = (database: DatabaseSync, file: string): void => {
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
  if (table) throw new Error(`${file} is another program's: it has a table ${JSON.stringify(table['name'])}`);
};

/** Brings the file forward, all or nothing. */
export const migrate = (database: DatabaseSync, file: string): void => {
  const before = checkVersion(database, file);
  if (before === SQLITE_VERSION) return;
  if (before === 0) checkIsOurs(database, file);
  database.exec('BEGIN IMMEDIATE');
  try {
    for (let version = checkVersion(database, file); version < SQLITE_VERSION; version += 1) {
      database.exec(MIGRATIONS[version]!);
    }
    database.exec(`PRAGMA user_version = ${SQLITE_VERSION}`);
    database.exec('COMMIT');
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // On a disk that is full SQLite has rolled back on its own; the first error is the one to tell.
    }
    throw error;
  }
};
