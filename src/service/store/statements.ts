import { randomInt } from 'node:crypto';
import { forgetRejects } from '../integrations/records.ts';
import { forgetSubject, type SqlValue } from '../operators/index.ts';
import { type Batch, type Dialect, POSTGRES, query, SQLITE, selected } from './dialect.ts';
import { DEEDS_SINCE, type DeedsSince, READ_GOALS } from './goals.ts';
import {
  BANNER_EVENTS,
  CAMPAIGN_COUNTS,
  type Column,
  DATA_POINTS,
  DELETED_USERS,
  EVENT_ID,
  EVENTS,
  GOAL_COUNTS,
  type InLane,
  namesOf,
  USER_CAMPAIGNS,
  USER_KEYS,
  USERS,
} from './rows.ts';

/**
 * Banner events of one user that a decision reads to count the impressions of the last days. A page can make up as many as it likes
 * of its own user, and all of them would be read for each sync; a user has some hundreds.
 */
const MAX_EVENTS_READ = 20_000;

/** What both databases are asked of users and campaigns, and what they write, in the words of one. Counts are added to in a lane. */
const statementsIn = (dialect: Dialect, lane: number) => {
  const { isIn, list, earlier, moment, move, ms, forRows, ifFirst, written } = dialect;
  const happened = earlier('time', 'received_at');
  const states = `SELECT ${selected(dialect, USER_CAMPAIGNS)} FROM user_campaigns`;
  const decided = USER_CAMPAIGNS.filter(({ type }) => type !== 'json');

  const notCounted = (names: string) =>
    `SELECT ${names} FROM user_campaigns WHERE workspace_id = $1 AND campaign_id = $2
       AND user_id > (SELECT counted_to FROM campaign_goals WHERE workspace_id = $1 AND campaign_id = $2)
     ORDER BY user_id LIMIT $3`;

  const question =
    (sql: string) =>
    (...values: SqlValue[]): Batch =>
      query(sql, ...values);

  const insert = <T>(table: string, columns: readonly Column<T>[], more = '') =>
    forRows(columns, ({ source }) => `INSERT INTO ${table} AS known (${namesOf(columns)}) ${source}${more}`);

  /** Writes rows in place of those with the same key, or adds to these. The workspace stays: to set it writes its indexes. */
  const upsert = <T>(
    table: string,
    columns: readonly Column<T>[],
    key: string,
    value: (column: string) => string,
  ) => {
    const fixed = ['workspace_id', ...key.split(', ')];
    const set = columns.filter(({ name }) => !fixed.includes(name));
    return insert(
      table,
      columns,
      ` ON CONFLICT (${key}) DO UPDATE SET ${set.map(({ name }) => `${name} = ${value(name)}`).join(', ')}`,
    );
  };
  /** Adds to counts, of which each replica has rows of its own. */
  const addTo = <T>(table: string, columns: readonly Column<InLane<T>>[], key: string) => {
    const add = upsert(table, columns, `${key}, lane`, (column) => `known.${column} + excluded.${column}`);
    return (rows: readonly T[]): Batch => add(rows.map((row) => ({ ...row, lane })));
  };
  const ofUsers = isIn('user_id', '$1', 'bigint');

  const deedsSince = forRows(
    DEEDS_SINCE,
    ({ joined, column }) =>
      `SELECT events.user_id, name, product_id, ${ms('time')} AS time, price, quantity, currency
       FROM events ${joined(',')} WHERE events.user_id = ${column('user_id')} AND time >= ${column('since')}
         AND ${isIn('coalesce(product_id, name)', column('names'), 'text')}`,
  );

  return {
    // Rows that were read are written with the next version. The workspace never changes: to set it would write its indexes.
    updateUsers: forRows(
      USERS,
      ({ joined, column }) =>
        `UPDATE users SET ${USERS.filter(({ name }) => name !== 'user_id' && name !== 'workspace_id')
          .map(({ name }) => `${name} = ${column(name)}`)
          .join(', ')} ${joined('FROM')}
         WHERE users.user_id = ${column('user_id')} AND users.version = ${column('version')} - 1${written}`,
    ),
    deleteUsers: forRows(
      DELETED_USERS,
      ({ joined, column }) =>
        `DELETE FROM users ${joined('USING')}
         WHERE users.user_id = ${column('user_id')} AND users.version = ${column('version')} - 1${written}`,
    ),
    insertUsers: insert('users', USERS, ifFirst),
    insertKeys: insert('user_keys', USER_KEYS, ifFirst),
    deleteKeys: forRows(
      USER_KEYS,
      ({ joined, column }) =>
        `DELETE FROM user_keys ${joined('USING')} WHERE ${USER_KEYS.map(
          ({ name }) => `user_keys.${name} = ${column(name)}`,
        ).join(' AND ')}`,
    ),
    insertEvents: insert('events', EVENTS),
    /** Answers those that are no repeats. */
    insertBannerEvents: insert(
      'banner_events',
      BANNER_EVENTS,
      ` ON CONFLICT DO NOTHING RETURNING user_id, banner_id, event_type, ${ms('time')} AS time`,
    ),
    writeStates: upsert(
      'user_campaigns',
      USER_CAMPAIGNS,
      'user_id, campaign_id',
      (column) => `excluded.${column}`,
    ),
    addCampaignCounts: addTo(
      'campaign_counts',
      CAMPAIGN_COUNTS,
      'workspace_id, campaign_id, variant_id, part',
    ),
    addGoalCounts: addTo(
      'goal_counts',
      GOAL_COUNTS,
      'workspace_id, campaign_id, variant_id, goal, currencies',
    ),
    addDataPoints: addTo('data_points', DATA_POINTS, 'workspace_id, day'),

    /** The events of user `$1` become those of user `$2`. */
    moveEvents: question(move('events', [...EVENTS, EVENT_ID])),
    moveBannerEvents: question(move('banner_events', BANNER_EVENTS)),
    erase: (users: readonly number[]): Batch[] =>
      users.length === 0
        ? []
        : ['events', 'banner_events', 'user_campaigns'].map((table) =>
            query(`DELETE FROM ${table} WHERE ${ofUsers}`, list(users)),
          ),
    forget: [forgetSubject, forgetRejects].map((forget) => question(forget('$1', '$2'))),

    /** The rows of `user_campaigns` of some users, all or those of some campaigns. */
    statesOf: (users: readonly number[]): Batch => query(`${states} WHERE ${ofUsers}`, list(users)),
    statesOfCampaigns: (users: readonly number[], campaigns: readonly string[]): Batch =>
      query(
        `${states} WHERE ${ofUsers} AND ${isIn('campaign_id', '$2', 'text')}`,
        list(users),
        list(campaigns),
      ),
    /**
     * Up to `$3` of those of a campaign whose goals are not counted yet, in the order of their users: as many as have done `$4` things
     * since their first impression, and the one who exceeds that.
     */
    statesToCount: question(
      `SELECT * FROM (${notCounted(selected(dialect, USER_CAMPAIGNS))}) AS states
       WHERE user_id <= coalesce(
         (SELECT user_id FROM (${notCounted('user_id, first_impression_at')}) AS theirs JOIN events USING (user_id)
          WHERE time >= first_impression_at ORDER BY user_id LIMIT 1 OFFSET $4), ${Number.MAX_SAFE_INTEGER})
       ORDER BY user_id`,
    ),
    /** Banner events of user `$1` that user `$2` has as well, counted by all that a state has them by. */
    repeats: question(
      `SELECT campaign_id, holdout_id, event_type, day, placement_id, language, count(*) AS times
       FROM banner_events WHERE user_id = $1 AND NOT is_test_send AND (campaign_id, banner_id, event_type, time) IN
         (SELECT campaign_id, banner_id, event_type, time FROM banner_events WHERE user_id = $2)
       GROUP BY campaign_id, holdout_id, event_type, day, placement_id, language`,
    ),
    deedsSince: (asked: readonly DeedsSince[]): Batch =>
      deedsSince(asked.map((each) => ({ ...each, names: list(each.names) }))),
    goals: question(READ_GOALS),

    /** What a decision needs: without `parts` and `goals`, which may be long and are for the results alone. */
    campaignsOf: (users: readonly number[]): Batch =>
      query(`SELECT ${selected(dialect, decided)} FROM user_campaigns WHERE ${ofUsers}`, list(users)),
    impressionsSince: question(
      `SELECT campaign_id, ${ms(happened)} AS time
       FROM (SELECT * FROM banner_events WHERE user_id = $1 LIMIT ${MAX_EVENTS_READ}) AS theirs
       WHERE event_type = 'impression' AND NOT is_test_send AND ${happened} >= ${moment('$2')}`,
    ),
  };
};

export type Statements = ReturnType<typeof statementsIn>;
/** One process writes the file. */
export const SQLITE_STATEMENTS = statementsIn(SQLITE, 0);
/** Each replica adds to counts in one of so many lanes, which it chooses at random: in one row they would wait for each other. */
const LANES = 16;
export const POSTGRES_STATEMENTS = statementsIn(POSTGRES, randomInt(LANES));
