import { inPostgres, inSqlite } from './tables.ts';

/** Brings the tables of the number before to this one. */
export interface Migration {
  sqlite: string;
  postgres: string;
}

const GOALS_ARE_KEPT = `
ALTER TABLE user_campaigns ADD COLUMN goals JSON NOT NULL DEFAULT '{}';
DROP INDEX user_campaigns_of_campaign;
CREATE INDEX user_campaigns_of_campaign ON user_campaigns (workspace_id, campaign_id, user_id);
DROP INDEX events_by_name;

CREATE TABLE campaign_goals (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  goals TEXT NOT NULL,
  version INTEGER NOT NULL,
  counted_to INTEGER,
  PRIMARY KEY (workspace_id, campaign_id)
) WITHOUT ROWID;

CREATE TABLE goal_counts (
  workspace_id TEXT NOT NULL,
  campaign_id TEXT NOT NULL,
  variant_id TEXT NOT NULL,
  goal TEXT NOT NULL,
  currencies TEXT NOT NULL,
  lane INT NOT NULL,
  converted INTEGER NOT NULL,
  revenue FLOAT NOT NULL,
  squares FLOAT NOT NULL,
  PRIMARY KEY (workspace_id, campaign_id, variant_id, goal, currencies, lane)
) WITHOUT ROWID;
`;

const HOLDOUT_IS_STORED_ONCE = `
ALTER TABLE banner_events ADD COLUMN holdout_id TEXT;
UPDATE banner_events SET holdout_id = twice.campaign_id FROM banner_events AS twice
  WHERE twice.user_id = banner_events.user_id AND twice.banner_id = '@' || banner_events.banner_id
    AND twice.event_type = banner_events.event_type AND twice.time = banner_events.time;
DELETE FROM banner_events WHERE substr(banner_id, 1, 1) = '@';
`;

const PICTURES_ARE_STORED = `
CREATE TABLE pictures (
  hash TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  size INTEGER NOT NULL,
  name TEXT NOT NULL,
  author TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  bytes BYTES NOT NULL,
  PRIMARY KEY (hash, workspace_id)
);
`;

/** A segment was a release of a campaign called `@segment:…`. */
const KIND_AND_ID = `CASE WHEN substr(campaign_id, 1, 9) = '@segment:' THEN 'segment' ELSE 'campaign' END`;
const SUBJECT_ID = `CASE WHEN substr(campaign_id, 1, 9) = '@segment:' THEN substr(campaign_id, 10) ELSE campaign_id END`;

/** A newer release used to cancel a scheduled one without saying so. */
const CANCEL_OVERTAKEN = `
UPDATE releases SET cancelled_at_ms = (
    SELECT min(newer.created_at_ms) FROM releases AS newer
    WHERE newer.workspace_id = releases.workspace_id AND newer.kind = releases.kind AND newer.subject_id = releases.subject_id
      AND newer.release > releases.release AND newer.live_at_ms <= releases.live_at_ms
  ) WHERE live_at_ms > created_at_ms;
`;

const RELEASES_HAVE_KINDS: Migration = {
  sqlite: inSqlite(`
CREATE TABLE kept_releases (
  workspace_id TEXT NOT NULL,
  release INTEGER NOT NULL,
  kind TEXT NOT NULL, -- campaign or segment
  subject_id TEXT NOT NULL,
  content JSON, -- NULL: removed
  based_on INTEGER NOT NULL,
  author TEXT NOT NULL,
  note TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  live_at_ms INTEGER NOT NULL,
  cancelled_at_ms INTEGER, -- of a scheduled release
  PRIMARY KEY (workspace_id, release),
  UNIQUE (workspace_id, kind, subject_id, based_on)
);
INSERT INTO kept_releases
  SELECT workspace_id, release, ${KIND_AND_ID}, ${SUBJECT_ID}, campaign, based_on, author, note, created_at_ms, live_at_ms, NULL
  FROM releases;
DROP TABLE releases;
ALTER TABLE kept_releases RENAME TO releases;
${CANCEL_OVERTAKEN}`),
  postgres: inPostgres(`
ALTER TABLE releases DROP CONSTRAINT releases_workspace_id_campaign_id_based_on_key;
ALTER TABLE releases RENAME COLUMN campaign TO content;
ALTER TABLE releases ADD COLUMN kind TEXT;
ALTER TABLE releases ADD COLUMN cancelled_at_ms bigint;
UPDATE releases SET kind = ${KIND_AND_ID}, campaign_id = ${SUBJECT_ID};
ALTER TABLE releases ALTER COLUMN kind SET NOT NULL;
ALTER TABLE releases RENAME COLUMN campaign_id TO subject_id;
ALTER TABLE releases ADD UNIQUE (workspace_id, kind, subject_id, based_on);
${CANCEL_OVERTAKEN}`),
};

/**
 * Changes of the tables since the first release, the one to number 2 first. A change that has been published never changes again: the
 * next one gets the next number. Tables that are made new are in `tables.ts`, and have all of them already.
 */
const MIGRATIONS: readonly Migration[] = [
  // The language in which a banner was shown.
  {
    sqlite: 'ALTER TABLE banner_events ADD COLUMN language TEXT',
    postgres: 'ALTER TABLE banner_events ADD COLUMN language text COLLATE "C"',
  },
  // Goals are counts that are kept.
  {
    sqlite: inSqlite(`${GOALS_ARE_KEPT}
      DROP INDEX events_of_user;
      CREATE INDEX events_of_user ON events (user_id, time);`),
    postgres: inPostgres(`${GOALS_ARE_KEPT}
      ALTER TABLE events DROP CONSTRAINT events_pkey;
      ALTER TABLE events ADD PRIMARY KEY (user_id, time, event_id);`),
  },
  // An event that counts for a holdout as well names it, in place of a second event whose banner had an @ in front.
  { sqlite: inSqlite(HOLDOUT_IS_STORED_ONCE), postgres: inPostgres(HOLDOUT_IS_STORED_ONCE) },
  // Pictures that operators upload.
  { sqlite: inSqlite(PICTURES_ARE_STORED), postgres: inPostgres(PICTURES_ARE_STORED) },
  RELEASES_HAVE_KINDS,
];

/** The number of the tables in `tables.ts`. */
export const schemaNumber = (migrations = MIGRATIONS): number => 1 + migrations.length;

const refuseNewer = (found: number, mine: number, database: string) => {
  if (found <= mine) return;
  throw new Error(
    `${database} has tables of number ${found}, and this Placard knows them up to ${mine}: use a newer Placard`,
  );
};

/** What is to be run, in this order, on tables of a number; nothing where they are the latest. Throws where they are newer. */
export const migrationsFrom = (
  found: number,
  database: string,
  migrations = MIGRATIONS,
): readonly Migration[] => {
  refuseNewer(found, schemaNumber(migrations), database);
  return migrations.slice(found - 1);
};

/** Throws where a database does not have the tables of this Placard; `null` where it has none. */
export const checkTablesAre = (found: number | null, database: string, migrations = MIGRATIONS): void => {
  const mine = schemaNumber(migrations);
  if (found === null) throw new Error(`${database} holds no Placard data`);
  refuseNewer(found, mine, database);
  if (found < mine) {
    throw new Error(
      `${database} has tables of number ${found}, and this Placard needs ${mine}: start its service once, which brings them forward`,
    );
  }
};
