import { forgetSubject } from '../../operators/index.ts';
import { addCampaigns, moveCampaigns } from '../add-campaigns.ts';

/** Parts texts that are sent as one parameter: neither a number nor JSON has it. */
const SEPARATOR = '\u001e';

/** A column of numbers or of JSON as one text: a tenth of what an array parameter costs to write. `null` is an empty one. */
export const joined = (values: readonly (number | string | null)[]): string => values.join(SEPARATOR);

/** A column of any texts, as PostgreSQL writes an array. */
export const quoted = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;

/** As a sub-select, which the planner does not look into: it would read each text to count its rows, a fifth of the time. */
const list = (parameter: number, type: string) =>
  `string_to_array((SELECT $${parameter}), E'\\x1e', '')::${type}[]`;
const texts = (parameter: number) => `(SELECT $${parameter}::text[])`;

/** Rows of a JSON parameter. */
const rows = (columns: string) => `jsonb_to_recordset($1::text::jsonb) AS sent(${columns})`;

// In floating point, which has all microseconds: `numeric` takes several times as long.
export const TIME = (ms: string) => `to_timestamp(${ms}::float8 / 1000)`;
/** The moment before which events are deleted. */
export const PRUNE_MOMENT = TIME('$4');
/** A time as Unix milliseconds, under its own name. */
export const MS = (time: string) => `date_part('epoch', ${time}) * 1000 AS ${time}`;

/** Sets these advisory locks apart from others of the database. */
const CONTACT_LOCK_CLASS = 7_061_638;
/** The server has room for so many. */
const CONTACT_LOCKS = 4_096;

/** Locks names that may be no user's yet, in one order. */
export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot)
  FROM (SELECT DISTINCT mod(hashtext(name), ${CONTACT_LOCKS}) AS slot FROM unnest(${texts(1)}) AS name ORDER BY 1) AS slots`;

export const FIND_KEYS = `SELECT workspace_id, key, user_id FROM user_keys
  WHERE workspace_id = ANY($1::text[]) AND key = ANY($2::text[])`;

export const USER_COLUMNS = `users.user_id, users.workspace_id, external_id, profile, version,
  ${MS('created_at')}, ${MS('updated_at')}`;
export const READ_USERS = `SELECT ${USER_COLUMNS} FROM users WHERE user_id = ANY($1::bigint[])`;
// The order makes every transaction lock its rows in the same sequence.
export const LOCK_USERS = `${READ_USERS} ORDER BY user_id FOR UPDATE`;
/** Without the users whom another transaction has locked. */
export const LOCK_FREE_USERS = `${LOCK_USERS} SKIP LOCKED`;

// What writes users or keys returns a row for each: a cluster's own count of inserted rows has those that were there as well.
export const UPDATE_USERS = `UPDATE users SET external_id = sent.external_id #>> '{}', profile = sent.profile::jsonb,
    version = users.version + 1, created_at = ${TIME('sent.created_ms')}, updated_at = ${TIME('sent.updated_ms')}
  FROM unnest(${list(1, 'bigint')}, ${list(2, 'bigint')}, ${list(3, 'jsonb')}, ${list(4, 'text')}, ${list(5, 'bigint')},
    ${list(6, 'bigint')}) AS sent(user_id, version, external_id, profile, created_ms, updated_ms)
  WHERE users.user_id = sent.user_id AND users.version = sent.version RETURNING 1`;
export const INSERT_USERS = `INSERT INTO users (user_id, workspace_id, external_id, profile, version, created_at, updated_at)
  SELECT user_id, workspace_id, external_id, profile, version, ${TIME('created_at')}, ${TIME('updated_at')}
  FROM ${rows(`user_id bigint, workspace_id text, external_id text, profile jsonb, version bigint, created_at bigint,
    updated_at bigint`)}
  ON CONFLICT DO NOTHING RETURNING user_id`;
export const DELETE_USERS = `DELETE FROM users USING unnest(${list(1, 'bigint')}, ${list(2, 'bigint')}) AS gone(user_id, version)
  WHERE users.user_id = gone.user_id AND users.version = gone.version RETURNING 1`;

const KEY = 'workspace_id text, key text, user_id bigint';
// In one order, like the rows: of two transactions that add the same keys one waits for the other.
export const INSERT_KEYS = `INSERT INTO user_keys (workspace_id, key, user_id)
  SELECT workspace_id, key, user_id FROM ${rows(KEY)} ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING key`;
export const DELETE_KEYS = `DELETE FROM user_keys USING ${rows(KEY)}
  WHERE user_keys.workspace_id = sent.workspace_id AND user_keys.key = sent.key AND user_keys.user_id = sent.user_id`;

export const INSERT_EVENTS = `INSERT INTO events (workspace_id, user_id, name, product_id, price, currency, quantity, app_id,
    time, received_at, properties)
  SELECT workspace_id, user_id, name, product_id, price, currency, quantity, app_id, ${TIME('time')},
    ${TIME('received_at')}, properties
  FROM unnest(${texts(1)}, ${list(2, 'bigint')}, ${texts(3)}, ${texts(4)}, ${list(5, 'float8')}, ${texts(6)}, ${list(7, 'int')},
    ${texts(8)}, ${list(9, 'float8')}, ${list(10, 'float8')}, ${list(11, 'jsonb')}) AS sent(workspace_id, user_id, name,
    product_id, price, currency, quantity, app_id, time, received_at, properties)`;

export const INSERT_BANNER_EVENTS = `INSERT INTO banner_events (user_id, banner_id, event_type, time, workspace_id, campaign_id,
    variant_id, placement_id, app_id, is_control, is_test_send, received_at)
  SELECT user_id, banner_id, event_type, ${TIME('time')}, workspace_id, campaign_id, variant_id, placement_id, app_id,
    is_control, is_test_send, ${TIME('received_at')}
  FROM ${rows(`user_id bigint, banner_id text, event_type text, time bigint, workspace_id text, campaign_id text,
    variant_id text, placement_id text, app_id text, is_control boolean, is_test_send boolean, received_at bigint`)}
  ON CONFLICT DO NOTHING RETURNING user_id, banner_id, event_type, ${MS('time')}`;

export const COUNT_CAMPAIGNS =
  addCampaigns(`SELECT user_id, campaign_id, workspace_id, variant_id, is_control, impressions,
    ${TIME('first_impression_at')}, ${TIME('last_impression_at')}, clicks, dismissals, ${TIME('last_dismissal_at')}, round
  FROM ${rows(`user_id bigint, campaign_id text, workspace_id text, variant_id text, is_control boolean, impressions int,
    first_impression_at bigint, last_impression_at bigint, clicks int, dismissals int, last_dismissal_at bigint, round int`)}`);
export const CAMPAIGNS_OF = `SELECT campaign_id, variant_id, is_control, impressions, clicks, dismissals, round,
  ${MS('first_impression_at')}, ${MS('last_impression_at')}, ${MS('last_dismissal_at')}
  FROM user_campaigns WHERE user_id = $1`;

export const IMPRESSIONS_OF = `SELECT campaign_id, date_part('epoch', least(time, received_at)) * 1000 AS time
  FROM banner_events WHERE user_id = $1 AND event_type = 'impression' AND NOT is_test_send
  AND least(time, received_at) >= ${TIME('$2::float8')}`;

/** Users whose rows become those of another one: whose, and of whom. */
const MOVED = `unnest(${list(1, 'bigint')}, ${list(2, 'bigint')}) AS moved(from_id, to_id)`;
const EVENT_COLUMNS = `event_id, workspace_id, name, product_id, price, currency, quantity, app_id, time, received_at,
  properties`;
const BANNER_EVENT_COLUMNS = `banner_id, event_type, time, workspace_id, campaign_id, variant_id, placement_id, app_id,
  is_control, is_test_send, received_at`;
// Added and deleted, not updated: a row cannot leave its shard.
export const MOVE = [
  `INSERT INTO events (user_id, ${EVENT_COLUMNS}) OVERRIDING SYSTEM VALUE
   SELECT to_id, ${EVENT_COLUMNS} FROM events JOIN ${MOVED} ON user_id = from_id`,
  `INSERT INTO banner_events (user_id, ${BANNER_EVENT_COLUMNS})
   SELECT to_id, ${BANNER_EVENT_COLUMNS} FROM banner_events JOIN ${MOVED} ON user_id = from_id ON CONFLICT DO NOTHING`,
];
/** One user at a time: several may become the same one. */
export const MOVE_CAMPAIGNS = moveCampaigns('$1::bigint', '$2::bigint');
export const ERASE = ['events', 'banner_events', 'user_campaigns'].map(
  (table) => `DELETE FROM ${table} WHERE user_id = ANY($1::bigint[])`,
);
export const FORGET_SUBJECT = forgetSubject('$1', '$2');

// Last of all, because every writer of a workspace meets here.
export const ADD_POINTS = `INSERT INTO data_points (workspace_id, day, points)
  SELECT workspace_id, day, points FROM ${rows('workspace_id text, day date, points bigint')} ORDER BY 1, 2
  ON CONFLICT (workspace_id, day) DO UPDATE SET points = data_points.points + excluded.points`;
