import type { Pool } from 'pg';
import { POSTGRES_STUDIO_TABLES } from '../studio/tables.ts';
import { type Run, runIn } from './statement.ts';
import { inTransaction } from './transaction.ts';

/**
 * Each entry brings a database from the version that is its index to the next one. Every unique key starts with the
 * user's key (or the key that is looked up), so that a sharded PostgreSQL can distribute each table by its first column.
 */
const MIGRATIONS: string[] = [
  `
  CREATE TABLE users (
    braze_id text NOT NULL COLLATE "C",
    workspace_id text NOT NULL COLLATE "C",
    profile text NOT NULL,
    version bigint NOT NULL, -- grows with every write: what a replica remembers it can trust or not
    PRIMARY KEY (braze_id, workspace_id)
  ) WITH (fillfactor = 70);

  -- Where users are found: a letter for the kind (x external ID, a alias, e e-mail, p phone …), then the value.
  CREATE TABLE user_keys (
    key text NOT NULL COLLATE "C",
    workspace_id text NOT NULL COLLATE "C",
    braze_id text NOT NULL COLLATE "C",
    PRIMARY KEY (key, workspace_id, braze_id)
  );
  -- An external ID and an alias name one user; of two replicas that create it at once, one starts again.
  CREATE UNIQUE INDEX user_keys_single ON user_keys (key, workspace_id) WHERE key ^@ 'x' OR key ^@ 'a';

  -- Events and purchases: one row holds those of one user and month that one request brought.
  CREATE TABLE events (
    braze_id text NOT NULL COLLATE "C",
    workspace_id text NOT NULL COLLATE "C",
    time_ms bigint NOT NULL,
    received_at_ms bigint NOT NULL,
    events text NOT NULL
  ) PARTITION BY RANGE (time_ms);
  CREATE TABLE events_default PARTITION OF events DEFAULT;

  CREATE TABLE banner_events (
    external_user_id text NOT NULL COLLATE "C",
    workspace_id text NOT NULL COLLATE "C",
    banner_id text NOT NULL COLLATE "C",
    event_type text NOT NULL COLLATE "C",
    timestamp_ms bigint NOT NULL,
    app_id text NOT NULL,
    campaign_id text NOT NULL,
    variant_id text,
    placement_id text NOT NULL,
    is_control boolean NOT NULL,
    is_test_send boolean NOT NULL,
    timestamp text NOT NULL,
    received_at_ms bigint NOT NULL,
    PRIMARY KEY (external_user_id, workspace_id, banner_id, event_type, timestamp_ms)
  ) PARTITION BY RANGE (timestamp_ms);
  CREATE TABLE banner_events_default PARTITION OF banner_events DEFAULT;

  CREATE TABLE dismissals (
    external_user_id text NOT NULL COLLATE "C",
    workspace_id text NOT NULL COLLATE "C",
    campaign_id text NOT NULL COLLATE "C",
    dismissed_at_ms bigint NOT NULL,
    banner_id text NOT NULL,
    count integer NOT NULL,
    PRIMARY KEY (external_user_id, workspace_id, campaign_id)
  );

  -- Several rows a day, so that replicas do not wait for each other.
  CREATE TABLE data_points (
    workspace_id text NOT NULL COLLATE "C",
    day text NOT NULL,
    slot integer NOT NULL,
    points bigint NOT NULL,
    PRIMARY KEY (workspace_id, day, slot)
  );

  CREATE TABLE secrets (workspace_id text PRIMARY KEY COLLATE "C", secret text NOT NULL);

  -- Unlogged: after a crash of the database the windows begin anew.
  CREATE UNLOGGED TABLE rate_windows (
    key text NOT NULL COLLATE "C",
    start_ms bigint NOT NULL,
    end_ms bigint NOT NULL,
    taken bigint NOT NULL,
    PRIMARY KEY (key, start_ms)
  );
  `,
  // Under another name, so that replicas which know only the older form of it fail instead of misreading it.
  `
  ALTER TABLE users RENAME COLUMN profile TO packed_profile;
  COMMENT ON COLUMN users.version IS 'Another number with every write: a replica can trust what it remembers, or not';
  CREATE FUNCTION placard_expect(stored bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF stored <> expected THEN
      RAISE EXCEPTION '% of % users were changed by another replica', expected - stored, expected
        USING ERRCODE = 'serialization_failure';
    END IF;
  END $$;
  `,
  // Who is there at this moment: nothing of it outlives a crash of the database.
  `
  CREATE UNLOGGED TABLE replicas (
    replica_id text PRIMARY KEY COLLATE "C",
    url text NOT NULL,
    token text NOT NULL,
    machine text NOT NULL,
    format integer NOT NULL,
    seen_at timestamptz NOT NULL
  );
  `,
  POSTGRES_STUDIO_TABLES,
];

export const POSTGRES_VERSION = MIGRATIONS.length;
/** Replicas that start together migrate one after the other. */
const MIGRATION_LOCK = 7_061_636;

const versionOf = async (run: Run): Promise<number> => {
  const [row] = await run<{ version: number }>('SELECT version FROM placard_schema');
  return row?.version ?? 0;
};

const refuseNewer = (version: number) => {
  if (version > POSTGRES_VERSION) {
    throw new Error(
      `The database has schema version ${version}, this Placard knows versions up to ${POSTGRES_VERSION}: use a newer Placard or another database`,
    );
  }
};

const isKnown = async (run: Run): Promise<boolean> => {
  const [row] = await run("SELECT to_regclass('placard_schema') IS NOT NULL AS known");
  return row?.['known'] === true;
};

/** For readers: throws where the database is not of this version. */
export const checkSchema = async (pool: Pool): Promise<void> => {
  const run = runIn(pool);
  if (!(await isKnown(run))) throw new Error('The database holds no Placard data');
  const version = await versionOf(run);
  refuseNewer(version);
  if (version < POSTGRES_VERSION) {
    throw new Error('The database is of an older Placard: start the service once, which brings it forward');
  }
};

/** An encoding that has not every character would refuse some users' texts, and no one would know before. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

const refuseEncoding = async (run: Run) => {
  const [row] = await run<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = row!.server_encoding;
  if (!ENCODINGS.includes(encoding))
    throw new Error(
      `The database has the encoding ${encoding}, which cannot store every text: it must be UTF8`,
    );
};

/** Brings the database forward, all or nothing. */
export const migrate = async (pool: Pool): Promise<void> => {
  await inTransaction(pool, async (run) => {
    await run(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await refuseEncoding(run);
    // Wherever the search path finds it: a schema of the role's name that came later would get a second, empty Placard.
    if (!(await isKnown(run))) await run('CREATE TABLE placard_schema (version integer NOT NULL)');
    const version = await versionOf(run);
    refuseNewer(version);
    if (version === POSTGRES_VERSION) return;
    for (const step of MIGRATIONS.slice(version)) await run(step);
    await run('DELETE FROM placard_schema');
    await run('INSERT INTO placard_schema (version) VALUES ($1)', [POSTGRES_VERSION]);
  });
};
