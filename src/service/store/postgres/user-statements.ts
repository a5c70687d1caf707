/** Parts texts that are sent as one parameter: no JSON and no key has it. */
export const SEPARATOR = '\u001e';

/** Each column as one text: a tenth of what an array parameter costs to write. */
export const columns = (rows: string[][], count: number): string[] =>
  Array.from({ length: count }, (_, column) => rows.map((row) => row[column]).join(SEPARATOR));

/** As sub-selects, which the planner does not look into: it would read each text to count its rows, a fifth of the time. */
const lists = (count: number, first = 1) =>
  Array.from({ length: count }, (_, i) => `string_to_array((SELECT $${first + i}), E'\\x1e')`).join(', ');

/** No row has this version: it stands for a user who is not remembered and is wanted by his ID. */
export const BY_ID = -1;

/** Sets these advisory locks apart from others of the database. */
const CONTACT_LOCK_CLASS = 7_061_638;

export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot::int)
  FROM unnest(${lists(1)}) AS slots(slot)`;
// The order makes every transaction lock its rows in the same sequence. A profile that is as the caller knows it is
// not sent. Keys are looked up before the locks are waited for: a merge may take their user away meanwhile, or give a
// key to another one. So rows say by which key they were found and whether they were changed since. The last row counts
// those known to the caller who are no more there, and says whether anybody found by a key is gone.
export const LOCK_USERS = `WITH wanted AS (
    SELECT braze_id, workspace_id, version::bigint AS version, NULL AS key, NULL AS seen
    FROM unnest(${lists(3)}) AS ids(braze_id, workspace_id, version)
    UNION ALL
    SELECT users.braze_id, users.workspace_id, NULL, key, users.version
    FROM unnest(${lists(2, 4)}) AS keys(key, workspace_id) JOIN user_keys USING (key, workspace_id)
      JOIN users USING (braze_id, workspace_id)
  ), locked AS MATERIALIZED (
    SELECT users.braze_id, users.workspace_id, users.version, wanted.version AS known, key, seen,
      CASE WHEN users.version = wanted.version THEN NULL ELSE users.packed_profile END AS profile
    FROM wanted JOIN users USING (braze_id, workspace_id)
    ORDER BY users.braze_id FOR UPDATE OF users
  )
  SELECT braze_id, workspace_id, version, profile, key, seen <> version AS is_changed FROM locked
  WHERE profile IS NOT NULL
  UNION ALL SELECT NULL, NULL, (SELECT count(*) FROM wanted WHERE version <> ${BY_ID})
    - (SELECT count(*) FROM locked WHERE known <> ${BY_ID}), NULL, NULL,
    (SELECT count(*) FROM wanted WHERE key IS NOT NULL) > (SELECT count(*) FROM locked WHERE key IS NOT NULL)`;
/** Keys and IDs of users whom somebody else has locked. */
export const FIND_LOCKED = `WITH named AS (
    SELECT key AS name, workspace_id, braze_id
    FROM unnest(${lists(2)}) AS keys(key, workspace_id) JOIN user_keys USING (key, workspace_id)
    UNION ALL
    SELECT braze_id, workspace_id, braze_id FROM unnest(${lists(2, 3)}) AS ids(braze_id, workspace_id)
  ), free AS MATERIALIZED (
    SELECT users.braze_id FROM named JOIN users USING (braze_id, workspace_id) FOR UPDATE OF users SKIP LOCKED
  )
  SELECT name, workspace_id FROM named JOIN users USING (braze_id, workspace_id)
  WHERE braze_id NOT IN (SELECT braze_id FROM free)`;
/**
 * What nearly every batch stores, in one statement: a transaction of its own where nothing else is open. Users who are
 * not as they were when the batch was made refuse all of it. The points come last, because every writer of a workspace
 * meets there.
 */
export const STORE = `WITH changed AS (
    UPDATE users SET packed_profile = sent.packed_profile, version = $15::text::bigint
    FROM unnest(${lists(4)}) AS sent(braze_id, workspace_id, packed_profile, version)
    WHERE users.braze_id = sent.braze_id AND users.workspace_id = sent.workspace_id
      AND users.version = sent.version::bigint
    RETURNING 1
  ), recorded AS (
    INSERT INTO events (braze_id, workspace_id, time_ms, received_at_ms, events)
    SELECT braze_id, workspace_id, time_ms::bigint, received_at_ms::bigint, events
    FROM unnest(${lists(5, 5)}) AS sent(braze_id, workspace_id, time_ms, received_at_ms, events)
  ), counted AS (
    INSERT INTO data_points (workspace_id, day, slot, points)
    SELECT workspace_id, day, slot::int, points::bigint
    FROM unnest(${lists(4, 10)}) AS sent(workspace_id, day, slot, points) ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, day, slot) DO UPDATE SET points = data_points.points + excluded.points
  )
  SELECT placard_expect(count(*), $14::text::bigint) FROM changed`;
export const INSERT_USERS = `INSERT INTO users (braze_id, workspace_id, packed_profile, version)
  SELECT braze_id, workspace_id, packed_profile, $4::text::bigint
  FROM unnest(${lists(3)}) AS added(braze_id, workspace_id, packed_profile)`;
export const DELETE_USERS = `DELETE FROM users USING unnest(${lists(2)}) AS gone(braze_id, workspace_id)
  WHERE users.braze_id = gone.braze_id AND users.workspace_id = gone.workspace_id`;
export const INSERT_KEYS = `INSERT INTO user_keys (key, workspace_id, braze_id)
  SELECT * FROM unnest(${lists(3)}) AS added(key, workspace_id, braze_id) ORDER BY 1, 2, 3
  ON CONFLICT (key, workspace_id, braze_id) DO NOTHING`;
export const DELETE_KEYS = `DELETE FROM user_keys USING unnest(${lists(3)}) AS gone(key, workspace_id, braze_id)
  WHERE user_keys.key = gone.key AND user_keys.workspace_id = gone.workspace_id
    AND user_keys.braze_id = gone.braze_id`;
