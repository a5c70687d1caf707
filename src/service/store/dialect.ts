import {
  CAMPAIGN_COUNTS,
  type Column,
  DATA_POINTS,
  GOAL_COUNTS,
  MAX_EVENTS_READ,
  namesOf,
  USER_CAMPAIGNS,
} from './rows.ts';

/** What the two databases write differently, so that a question which both are asked stands once. */
export interface Dialect {
  /** A time in Unix milliseconds. */
  ms(time: string): string;
  /** Unix milliseconds, as the database has times. */
  moment(ms: string): string;
  /** So many milliseconds after a time. */
  after(time: string, ms: string): string;
  /** The earlier of two times. */
  earlier(one: string, other: string): string;
  /** Whether a column has one of the values of a list, which `list` makes a parameter of. */
  isIn(column: string, parameter: string, type: 'text' | 'bigint'): string;
  list<T extends string | number>(values: readonly T[]): string | readonly T[];
}

export const SQLITE: Dialect = {
  ms: (time) => time,
  moment: (ms) => ms,
  after: (time, ms) => `${time} + ${ms}`,
  earlier: (one, other) => `min(${one}, ${other})`,
  isIn: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  list: (values) => JSON.stringify(values),
};

export const POSTGRES: Dialect = {
  // In floating point, which has all microseconds: `numeric` takes several times as long.
  ms: (time) => `date_part('epoch', ${time}) * 1000`,
  moment: (ms) => `to_timestamp(${ms}::float8 / 1000)`,
  after: (time, ms) => `${time} + ${ms} * interval '1 millisecond'`,
  earlier: (one, other) => `least(${one}, ${other})`,
  isIn: (column, parameter, type) => `${column} = ANY(${parameter}::${type}[])`,
  list: (values) => values,
};

/** Columns of a table as they are read: times as Unix milliseconds. */
export const selected = <T>({ ms }: Dialect, columns: readonly Column<T>[]): string =>
  columns.map(({ name, type }) => (type === 'moment' ? `${ms(name)} AS ${name}` : name)).join(', ');

/** What both databases are asked of users and campaigns, in the words of one. */
export const questionsIn = (dialect: Dialect) => {
  const { isIn, earlier, moment, ms } = dialect;
  const states = `SELECT ${selected(dialect, USER_CAMPAIGNS)} FROM user_campaigns`;
  const happened = earlier('time', 'received_at');
  return {
    statesOf: `${states} WHERE ${isIn('user_id', '$1', 'bigint')}`,
    statesOfCampaigns: `${states} WHERE ${isIn('user_id', '$1', 'bigint')} AND ${isIn('campaign_id', '$2', 'text')}`,
    statesAfter: `${states} WHERE workspace_id = $1 AND campaign_id = $2 AND user_id > $3 ORDER BY user_id LIMIT $4`,
    /** What a decision needs: without `parts` and `goals`, which may be long and are for the results alone. */
    campaignsOf: `SELECT ${selected(
      dialect,
      USER_CAMPAIGNS.filter(({ type }) => type !== 'json'),
    )} FROM user_campaigns WHERE user_id = $1`,
    impressionsSince: `SELECT campaign_id, ${ms(happened)} AS time
      FROM (SELECT * FROM banner_events WHERE user_id = $1 LIMIT ${MAX_EVENTS_READ}) AS theirs
      WHERE event_type = 'impression' AND NOT is_test_send AND ${happened} >= ${moment('$2')}`,
    /** The banner events of one user, counted by all that a state has them by. */
    alikeEvents: `SELECT campaign_id, event_type, day, placement_id, language, count(*) AS times FROM banner_events
      WHERE user_id = $1 AND NOT is_test_send GROUP BY campaign_id, event_type, day, placement_id, language`,
  };
};

// What both databases write alike, but for where the rows come from: `VALUES …`, or a `SELECT`.

export const insertInto = (table: string, columns: readonly Column<never>[], source: string): string =>
  `INSERT INTO ${table} AS known (${namesOf(columns)}) ${source}`;

/** Writes rows in place of those with the same key, or adds their numbers to these. The workspace stays: to set it writes its indexes. */
const upsert =
  (table: string, columns: readonly Column<never>[], key: string, value: (column: string) => string) =>
  (source: string): string => {
    const fixed = ['workspace_id', ...key.split(', ')];
    const set = columns.filter(({ name }) => !fixed.includes(name));
    return `${insertInto(table, columns, source)} ON CONFLICT (${key}) DO UPDATE SET ${set
      .map(({ name }) => `${name} = ${value(name)}`)
      .join(', ')}`;
  };
const sum = (column: string) => `known.${column} + excluded.${column}`;

export const writeStates = upsert(
  'user_campaigns',
  USER_CAMPAIGNS,
  'user_id, campaign_id',
  (column) => `excluded.${column}`,
);
export const addCampaignCounts = upsert(
  'campaign_counts',
  CAMPAIGN_COUNTS,
  'workspace_id, campaign_id, variant_id, part, lane',
  sum,
);
export const addGoalCounts = upsert(
  'goal_counts',
  GOAL_COUNTS,
  'workspace_id, campaign_id, variant_id, goal, currencies, lane',
  sum,
);
export const addDataPoints = upsert('data_points', DATA_POINTS, 'workspace_id, day, lane', sum);
