/** Parts texts that are sent as one parameter: no JSON and no key has it. */
export const SEPARATOR = '\u001e';

/** Each column as one text: a tenth of what an array parameter costs to write. */
export const columns = (rows: string[][], count: number): string[] => {
  const texts = new Array<string>(count).fill('');
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]!;
    for (let column = 0; column < count; column += 1) {
      texts[column] = i === 0 ? row[column]! : texts[column] + SEPARATOR + row[column]!;
    }
  }
  return texts;
};

const lists = (count: number, first = 1) =>
  Array.from({ length: count }, (_, i) => `string_to_array($${first + i}, E'\\x1e')`).join(', ');

/** Sets these advisory locks apart from others of the database. */
const CONTACT_LOCK_CLASS = 7_061_638;

export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot::int)
  FROM unnest(${lists(1)}) AS slots(slot)`;
// The order makes every transaction lock its rows in the same sequence.
export const LOCK_USERS = `SELECT users.braze_id, users.workspace_id, users.version FROM users
  WHERE (users.braze_id, users.workspace_id) IN (
    SELECT user_keys.braze_id, user_keys.workspace_id
    FROM unnest(${lists(2)}) AS wanted(key, workspace_id) JOIN user_keys USING (key, workspace_id)
    UNION SELECT * FROM unnest(${lists(2, 3)}) AS ids(braze_id, workspace_id))
  ORDER BY users.braze_id FOR UPDATE OF users`;
export const READ_USERS = `SELECT users.braze_id, users.workspace_id, users.profile
  FROM unnest(${lists(2)}) AS wanted(braze_id, workspace_id) JOIN users USING (braze_id, workspace_id)`;
export const INSERT_USERS = `INSERT INTO users (braze_id, workspace_id, profile, version)
  SELECT braze_id, workspace_id, profile, 1 FROM unnest(${lists(3)}) AS added(braze_id, workspace_id, profile)`;
export const UPDATE_USERS = `UPDATE users SET profile = changed.profile, version = users.version + 1
  FROM unnest(${lists(3)}) AS changed(braze_id, workspace_id, profile)
  WHERE users.braze_id = changed.braze_id AND users.workspace_id = changed.workspace_id`;
export const DELETE_USERS = `DELETE FROM users USING unnest(${lists(2)}) AS gone(braze_id, workspace_id)
  WHERE users.braze_id = gone.braze_id AND users.workspace_id = gone.workspace_id`;
export const INSERT_KEYS = `INSERT INTO user_keys (key, workspace_id, braze_id)
  SELECT * FROM unnest(${lists(3)}) AS added(key, workspace_id, braze_id) ORDER BY 1, 2, 3
  ON CONFLICT (key, workspace_id, braze_id) DO NOTHING`;
export const DELETE_KEYS = `DELETE FROM user_keys USING unnest(${lists(3)}) AS gone(key, workspace_id, braze_id)
  WHERE user_keys.key = gone.key AND user_keys.workspace_id = gone.workspace_id
    AND user_keys.braze_id = gone.braze_id`;
export const INSERT_EVENTS = `INSERT INTO events (braze_id, workspace_id, time_ms, received_at_ms, events)
  SELECT braze_id, workspace_id, time_ms::bigint, received_at_ms::bigint, events
  FROM unnest(${lists(5)}) AS added(braze_id, workspace_id, time_ms, received_at_ms, events)`;
export const ADD_POINTS = `INSERT INTO data_points (workspace_id, day, slot, points)
  SELECT workspace_id, day, slot::int, points::bigint
  FROM unnest(${lists(4)}) AS added(workspace_id, day, slot, points) ORDER BY 1, 2, 3
  ON CONFLICT (workspace_id, day, slot) DO UPDATE SET points = data_points.points + excluded.points`;
