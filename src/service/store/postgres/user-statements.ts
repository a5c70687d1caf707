import { forgetRejects } from '../../integrations/records.ts';
import { forgetSubject } from '../../operators/index.ts';
import type { Changes } from '../../profiles/user-set.ts';
import {
  addCampaignCounts,
  addDataPoints,
  addGoalCounts,
  insertInto,
  POSTGRES,
  questionsIn,
  selected,
  writeStates,
} from '../dialect.ts';
import {
  BANNER_EVENTS,
  CAMPAIGN_COUNTS,
  type Column,
  DATA_POINTS,
  EVENTS,
  GOAL_COUNTS,
  namesOf,
  USER_CAMPAIGNS,
  USER_KEYS,
  USERS,
} from '../rows.ts';
import { forRows } from './statement.ts';

/** A time as Unix milliseconds, under its own name. */
export const MS = (time: string) => `${POSTGRES.ms(time)} AS ${time}`;
const TIME = POSTGRES.moment;

/** Sets these advisory locks apart from others of the database. */
const CONTACT_LOCK_CLASS = 7_061_638;
/** The server has room for so many. */
const CONTACT_LOCKS = 4_096;

/** Locks names that may be no user's yet, in one order. */
export const LOCK_CONTACTS = `SELECT pg_advisory_xact_lock(${CONTACT_LOCK_CLASS}, slot)
  FROM (SELECT DISTINCT hashtext(name) & ${CONTACT_LOCKS - 1} AS slot FROM unnest($1::text[]) AS name ORDER BY 1) AS slots`;

export const FIND_KEYS = `SELECT workspace_id, key, user_id FROM user_keys
  WHERE workspace_id = ANY($1::text[]) AND key = ANY($2::text[])`;

export const USER_COLUMNS = selected(POSTGRES, USERS);
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

export const QUESTIONS = questionsIn(POSTGRES);

/** What users did since a moment each. */
export const DEEDS_SINCE = `SELECT user_id, name, product_id, ${MS('time')}, price, quantity, currency
  FROM (SELECT unnest($1::bigint[]) AS known_id, unnest($2::float8[]) AS since_ms) AS known
  JOIN events ON user_id = known_id AND time >= ${TIME('since_ms')}
  WHERE ${POSTGRES.isIn('coalesce(product_id, name)', '$3', 'text')}`;
export const ALL_GOALS = 'SELECT workspace_id, campaign_id, goals FROM campaign_goals';

// What writes users or keys returns a row for each: a cluster's own count of inserted rows has those that were there as well.
/** A row has the version that it is written with. */
const IS_AS_READ = 'users.user_id = sent.user_id AND users.version = sent.version - 1';
export const UPDATE_USERS = forRows(
  USERS,
  (rows) =>
    `UPDATE users SET ${USERS.slice(2)
      .map(({ name }) => `${name} = sent.${name}`)
      .join(', ')} FROM ${rows} WHERE ${IS_AS_READ} RETURNING 1`,
);
export const INSERT_USERS = forRows(
  USERS,
  (rows) => `${insertInto('users', USERS, `SELECT * FROM ${rows}`)} ON CONFLICT DO NOTHING RETURNING user_id`,
);
export const DELETE_USERS = forRows<Changes['deleted'][number]>(
  [
    { name: 'user_id', type: 'bigint', of: ({ userId }) => userId },
    { name: 'version', type: 'bigint', of: ({ version }) => version },
  ],
  (rows) => `DELETE FROM users USING ${rows} WHERE ${IS_AS_READ} RETURNING 1`,
);

// In one order, like the rows: of two transactions that add the same keys one waits for the other.
export const INSERT_KEYS = forRows(
  USER_KEYS,
  (rows) =>
    `${insertInto('user_keys', USER_KEYS, `SELECT * FROM ${rows} ORDER BY 1, 2, 3`)} ON CONFLICT DO NOTHING RETURNING key`,
);
export const DELETE_KEYS = forRows(
  USER_KEYS,
  (rows) => `DELETE FROM user_keys USING ${rows}
    WHERE user_keys.workspace_id = sent.workspace_id AND user_keys.key = sent.key AND user_keys.user_id = sent.user_id`,
);

export const INSERT_EVENTS = forRows(EVENTS, (rows) => insertInto('events', EVENTS, `SELECT * FROM ${rows}`));

export const INSERT_BANNER_EVENTS = forRows(
  BANNER_EVENTS,
  (rows) => `${insertInto('banner_events', BANNER_EVENTS, `SELECT * FROM ${rows}`)}
    ON CONFLICT DO NOTHING RETURNING user_id, banner_id, event_type, ${MS('time')}`,
);

export const WRITE_STATES = forRows(USER_CAMPAIGNS, (rows) =>
  writeStates(`SELECT * FROM ${rows} ORDER BY user_id, campaign_id`),
);

export const ADD_CAMPAIGN_COUNTS = forRows(CAMPAIGN_COUNTS, (rows) =>
  addCampaignCounts(`SELECT * FROM ${rows} WHERE true`),
);
export const ADD_GOAL_COUNTS = forRows(GOAL_COUNTS, (rows) =>
  addGoalCounts(`SELECT * FROM ${rows} WHERE true`),
);
export const ADD_POINTS = forRows(DATA_POINTS, (rows) =>
  addDataPoints(`SELECT * FROM ${rows} ORDER BY 1, 2`),
);

/** Added and deleted, not updated: a row cannot leave its shard. */
const move = (table: string, columns: readonly Column<never>[], more = '') => {
  const others = `${namesOf(columns.filter(({ name }) => name !== 'user_id'))}${more}`;
  const overriding = more ? 'OVERRIDING SYSTEM VALUE' : '';
  return `INSERT INTO ${table} (user_id, ${others}) ${overriding} SELECT $2::bigint, ${others} FROM ${table}
    WHERE user_id = $1::bigint ON CONFLICT DO NOTHING`;
};
export const MOVE_EVENTS = move('events', EVENTS, ', event_id');
export const MOVE_BANNER_EVENTS = move('banner_events', BANNER_EVENTS);
export const ERASE = ['events', 'banner_events', 'user_campaigns'].map(
  (table) => `DELETE FROM ${table} WHERE user_id = ANY($1::bigint[])`,
);
export const FORGET = [forgetSubject('$1', '$2'), forgetRejects('$1', '$2')];
