import { forgetRejects } from '../../integrations/tables.ts';
import { forgetSubject } from '../../operators/index.ts';
import { addCounts, tallyEvents, writeStates } from '../campaign-statements.ts';
import { forRows, TIME } from './statement.ts';

/** The moment before which something is deleted. */
export const PRUNE_MOMENT = TIME('$2');
/** A time as Unix milliseconds, under its own name. */
export const MS = (time: string) => `date_part('epoch', ${time}) * 1000 AS ${time}`;

/** Sets these advisory locks apart from others of the database. */
const CONTACT_LOCK_CLASS = 7_061_638;
/** The server has room for so many. */
const CONTACT_LOCKS = 4_096;

/** Locks names that may be no user's yet, in one order. */
export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot)
  FROM (SELECT DISTINCT hashtext(name) & ${CONTACT_LOCKS - 1} AS slot FROM unnest($1::text[]) AS name ORDER BY 1) AS slots`;

export const FIND_KEYS = `SELECT workspace_id, key, user_id FROM user_keys
  WHERE workspace_id = ANY($1::text[]) AND key = ANY($2::text[])`;

export const USER_COLUMNS = `users.user_id, users.workspace_id, external_id, profile, version,
  ${MS('created_at')}, ${MS('updated_at')}`;
/** Of a user whose row is as it was read the last time, `$2` the version and `$3` the time, the profile is not sent again. */
export const READ_CHANGED_USERS = `SELECT users.user_id, users.workspace_id, external_id, version,
    ${MS('created_at')}, ${MS('updated_at')},
    CASE WHEN version = known_version AND updated_at = ${TIME('known_ms')} THEN NULL ELSE profile END AS profile,
    version = known_version AND updated_at = ${TIME('known_ms')} AS is_known
  FROM (SELECT unnest($1::bigint[]) AS known_id, unnest($2::bigint[]) AS known_version, unnest($3::float8[]) AS known_ms) AS known
  JOIN users ON user_id = known_id`;
// The order makes every transaction lock its rows in the same sequence.
export const LOCK_USERS = `${READ_CHANGED_USERS} ORDER BY user_id FOR UPDATE OF users`;
/** Without the users whom another transaction has locked. */
export const LOCK_FREE_USERS = `${LOCK_USERS} SKIP LOCKED`;

const CAMPAIGN_COLUMNS = `campaign_id, variant_id, is_control, impressions, clicks, dismissals, round,
  ${MS('first_impression_at')}, ${MS('last_impression_at')}, ${MS('last_dismissal_at')}`;
export const CAMPAIGNS_OF = `SELECT ${CAMPAIGN_COLUMNS} FROM user_campaigns WHERE user_id = $1`;
const STATES = `SELECT user_id, workspace_id, ${CAMPAIGN_COLUMNS}, parts FROM user_campaigns
  WHERE user_id = ANY($1::bigint[])`;
export const ALL_STATES_OF = STATES;
export const STATES_OF = `${STATES} AND campaign_id = ANY($2::text[])`;
export const TALLY_EVENTS = tallyEvents('$1::bigint');

export const IMPRESSIONS_OF = `SELECT campaign_id, date_part('epoch', least(time, received_at)) * 1000 AS time
  FROM banner_events WHERE user_id = $1 AND event_type = 'impression' AND NOT is_test_send
  AND least(time, received_at) >= ${TIME('$2')}`;

// What writes users or keys returns a row for each: a cluster's own count of inserted rows has those that were there as well.
const USER = `user_id bigint, workspace_id text, external_id text, profile json, version bigint, created_at moment,
    updated_at moment`;
/** A row has the version that it is written with. */
const IS_AS_READ = 'users.user_id = sent.user_id AND users.version = sent.version - 1';
export const UPDATE_USERS = forRows(
  USER,
  (rows) => `UPDATE users SET external_id = sent.external_id, profile = sent.profile, version = sent.version,
    created_at = sent.created_at, updated_at = sent.updated_at FROM ${rows} WHERE ${IS_AS_READ} RETURNING 1`,
);
export const INSERT_USERS = forRows(
  USER,
  (rows, names) =>
    `INSERT INTO users (${names}) SELECT * FROM ${rows} ON CONFLICT DO NOTHING RETURNING user_id`,
);
export const DELETE_USERS = forRows(
  'user_id bigint, version bigint',
  (rows) => `DELETE FROM users USING ${rows} WHERE ${IS_AS_READ} RETURNING 1`,
);

const KEY = 'workspace_id text, key text, user_id bigint';
// In one order, like the rows: of two transactions that add the same keys one waits for the other.
export const INSERT_KEYS = forRows(
  KEY,
  (rows, names) =>
    `INSERT INTO user_keys (${names}) SELECT * FROM ${rows} ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING key`,
);
export const DELETE_KEYS = forRows(
  KEY,
  (rows) => `DELETE FROM user_keys USING ${rows}
    WHERE user_keys.workspace_id = sent.workspace_id AND user_keys.key = sent.key AND user_keys.user_id = sent.user_id`,
);

export const INSERT_EVENTS = forRows(
  `workspace_id text, user_id bigint, name text, product_id text, price float8, currency text, quantity int,
    app_id text, time moment, received_at moment, properties json`,
  (rows, names) => `INSERT INTO events (${names}) SELECT * FROM ${rows}`,
);

export const INSERT_BANNER_EVENTS = forRows(
  `user_id bigint, banner_id text, event_type text, time moment, workspace_id text, campaign_id text,
    variant_id text, placement_id text, day text, app_id text, is_control boolean, is_test_send boolean,
    received_at moment, language text`,
  (rows, names) => `INSERT INTO banner_events (${names}) SELECT * FROM ${rows}
    ON CONFLICT DO NOTHING RETURNING user_id, banner_id, event_type, ${MS('time')}`,
);

export const WRITE_STATES = forRows(
  `user_id bigint, campaign_id text, workspace_id text, variant_id text, is_control boolean, impressions int,
    first_impression_at moment, last_impression_at moment, clicks int, dismissals int, last_dismissal_at moment,
    round int, parts json`,
  (rows) => writeStates(`SELECT * FROM ${rows} ORDER BY user_id, campaign_id`),
);

export const ADD_COUNTS = forRows(
  `workspace_id text, campaign_id text, variant_id text, part text, lane int, impressions bigint, clicks bigint,
    dismissals bigint, exposed bigint, clicked bigint, dismissed bigint`,
  (rows) => addCounts(`SELECT * FROM ${rows} WHERE true`),
);

export const ADD_POINTS = forRows(
  'workspace_id text, day date, lane int, points bigint',
  (rows, names) => `INSERT INTO data_points (${names}) SELECT * FROM ${rows} ORDER BY 1, 2
    ON CONFLICT (workspace_id, day, lane) DO UPDATE SET points = data_points.points + excluded.points`,
);

const EVENT_COLUMNS = `event_id, workspace_id, name, product_id, price, currency, quantity, app_id, time, received_at,
  properties`;
const BANNER_EVENT_COLUMNS = `banner_id, event_type, time, workspace_id, campaign_id, variant_id, placement_id, day,
  app_id, is_control, is_test_send, received_at, language`;
// Added and deleted, not updated: a row cannot leave its shard.
export const MOVE_EVENTS = `INSERT INTO events (user_id, ${EVENT_COLUMNS}) OVERRIDING SYSTEM VALUE
  SELECT $2::bigint, ${EVENT_COLUMNS} FROM events WHERE user_id = $1::bigint`;
export const MOVE_BANNER_EVENTS = `INSERT INTO banner_events (user_id, ${BANNER_EVENT_COLUMNS})
  SELECT $2::bigint, ${BANNER_EVENT_COLUMNS} FROM banner_events WHERE user_id = $1::bigint ON CONFLICT DO NOTHING`;
export const ERASE = ['events', 'banner_events', 'user_campaigns'].map(
  (table) => `DELETE FROM ${table} WHERE user_id = ANY($1::bigint[])`,
);
export const FORGET = [forgetSubject('$1', '$2'), forgetRejects('$1', '$2')];
