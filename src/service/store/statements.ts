import { randomInt } from 'node:crypto';
import { INGESTION_REJECTS } from '../integrations/ingestion-records.ts';
import { redactAuditSubject } from '../operators/index.ts';
import type { ChangeSet } from '../profiles/user-repository.ts';
import { formatColumnNames } from '../sql/columns.ts';
import { type BulkStatement, type Dialect, POSTGRES, query, SQLITE, selectList } from '../sql/dialect.ts';
import { FEED_TABLES } from '../sql/feed.ts';
import type { SqlValue } from '../sql/row-readers.ts';
import { pickFields } from '../sql/table.ts';
import {
  BANNER_EVENT_KEY,
  BANNER_EVENTS,
  DATA_POINTS,
  DUPLICATE_EVENT,
  EVENTS,
  OWNED_BY_USERS,
  USER_CAMPAIGNS,
  USER_CHANGES,
  USER_IDENTIFIERS,
  USERS,
} from '../sql/user-tables.ts';
import { createWrites } from '../sql/writes.ts';

/**
 * Maximum number of banner events of one user that a decision reads to count the impressions of the last days. A user has some
 * hundreds, but a page can send any number for its own user, and each sync would read all of them.
 */
const MAX_EVENTS_READ = 10_000;

const DELETED_USERS = pickFields(USERS, ['userId', 'version']).columns;
const REJECT_IDENTIFIERS = pickFields(INGESTION_REJECTS, ['workspaceId', 'userIdentifier']).columns;
/** Key of a banner event of a given user. */
const KEY_OF_USER = formatColumnNames(BANNER_EVENT_KEY.columns.filter(({ name }) => name !== 'user_id'));

type EventTable = typeof EVENTS | typeof BANNER_EVENTS;

/** Returns the `SELECT` of events with the external IDs of their users. */
export const selectWithExternalId = (dialect: Dialect, { name, columns }: EventTable): string =>
  `SELECT external_id, ${selectList(dialect, columns, name)} FROM ${name} JOIN users USING (user_id)`;

/** Returns the condition that columns of a table equal those of a row. */
const equals = (
  table: string,
  columns: readonly { name: string }[],
  column: (name: string) => string,
): string => columns.map(({ name }) => `${table}.${name} = ${column(name)}`).join(' AND ');

/** Creates the statements of users and campaigns for one database. Counters are incremented in `shard`. */
const createStatements = (dialect: Dialect, shard: number) => {
  const { isIn, list, earlier, moveRows, ms, bulk, onConflictDoNothing, returningWritten } = dialect;
  const { indexUserEvents, lockMerges, ofUser, reusePlans } = dialect;
  const { add, insert, upsert } = createWrites(dialect);
  const occurred = earlier('occurred_at', 'received_at');
  const userCampaigns = `SELECT ${selectList(dialect, USER_CAMPAIGNS.columns)} FROM user_campaigns`;
  const defineQuery =
    (sql: string) =>
    (...values: SqlValue[]): BulkStatement =>
      query(sql, ...values);
  const selectFeed = (table: EventTable, { idColumn }: { idColumn: string }) =>
    defineQuery(
      `${selectWithExternalId(dialect, table)} WHERE ${idColumn} > $1 AND ${idColumn} <= $2 ORDER BY ${idColumn} LIMIT $3`,
    );
  const ofUsers = isIn('user_id', '$1', 'bigint');
  const addDataPoints = add(DATA_POINTS);

  return {
    // Increments the version of rows that were read. Does not set the constant workspace, because setting it would update its
    // indexes.
    updateUsers: bulk(
      USERS.columns,
      ({ joined, column }) =>
        `UPDATE users SET ${USERS.columns
          .filter(({ name }) => name !== 'user_id' && name !== 'workspace_id')
          .map(({ name }) => `${name} = ${column(name)}`)
          .join(', ')} ${joined('FROM')}
         WHERE users.user_id = ${column('user_id')} AND users.version = ${column('version')} - 1${returningWritten}`,
    ),
    deleteUsers: bulk(
      DELETED_USERS,
      ({ joined, column }) =>
        `DELETE FROM users ${joined('USING')}
         WHERE users.user_id = ${column('user_id')} AND users.version = ${column('version')} - 1${returningWritten}`,
    ),
    insertUsers: insert(USERS, onConflictDoNothing),
    insertIdentifiers: insert(USER_IDENTIFIERS, onConflictDoNothing),
    deleteIdentifiers: bulk(
      USER_IDENTIFIERS.columns,
      ({ joined, column }) =>
        `DELETE FROM user_identifiers ${joined('USING')}
         WHERE ${equals('user_identifiers', USER_IDENTIFIERS.columns, column)}`,
    ),
    insertEvents: insert(EVENTS),
    /** Returns the banner events that are already stored. */
    storedBannerEvents: bulk(
      BANNER_EVENT_KEY.columns,
      ({ joined, column }) =>
        `SELECT ${selectList(dialect, BANNER_EVENT_KEY.columns, 'banner_events')} FROM banner_events ${joined(',')}
         WHERE ${equals('banner_events', BANNER_EVENT_KEY.columns, column)}`,
    ),
    insertBannerEvents: insert(BANNER_EVENTS),
    insertChanges: insert(USER_CHANGES),
    writeUserCampaigns: upsert(USER_CAMPAIGNS),
    addDataPoints: (rows: ChangeSet['points']): BulkStatement =>
      addDataPoints(rows.map((row) => ({ ...row, shard }))),

    indexUserEvents,
    lockMerges,
    reusePlans,
    /** Moves the events of user `$1` to user `$2`. */
    moveEvents: defineQuery(
      dialect === SQLITE
        ? `UPDATE events SET user_id = $2 WHERE ${ofUser('= $1')}`
        : moveRows('events', EVENTS.columns),
    ),
    moveBannerEvents: defineQuery(moveRows('banner_events', BANNER_EVENTS.columns)),
    erase: (users: readonly number[]): BulkStatement[] =>
      users.length === 0
        ? []
        : [
            ...indexUserEvents,
            ...OWNED_BY_USERS.map((table) => {
              const isOfUsers = table === EVENTS ? ofUser(isIn('', '$1', 'bigint')) : ofUsers;
              return query(`DELETE FROM ${table.name} WHERE ${isOfUsers}`, list(users));
            }),
          ],
    redactAuditSubject: defineQuery(redactAuditSubject('$1', '$2')),
    deleteRejects: bulk(
      REJECT_IDENTIFIERS,
      ({ joined, column }) =>
        `DELETE FROM ingestion_rejects ${joined('USING')}
         WHERE ${equals('ingestion_rejects', REJECT_IDENTIFIERS, column)}`,
    ),

    /** Returns rows of `user_campaigns` of some users, for all or some campaigns. */
    findUserCampaigns: (users: readonly number[]): BulkStatement =>
      query(`${userCampaigns} WHERE ${ofUsers}`, list(users)),
    findUserCampaignsByCampaign: (users: readonly number[], campaigns: readonly string[]): BulkStatement =>
      query(
        `${userCampaigns} WHERE ${ofUsers} AND ${isIn('campaign_id', '$2', 'text')}`,
        list(users),
        list(campaigns),
      ),
    /** Returns banner events of user `$1` that user `$2` also has. */
    duplicates: defineQuery(
      `SELECT ${selectList(dialect, DUPLICATE_EVENT.columns)}
       FROM banner_events WHERE user_id = $1 AND NOT is_test_send AND (${KEY_OF_USER}) IN
         (SELECT ${KEY_OF_USER} FROM banner_events WHERE user_id = $2)`,
    ),
    impressionsSince: defineQuery(
      `SELECT campaign_id, ${ms(occurred)} AS occurred_at
       FROM (SELECT * FROM banner_events WHERE user_id = $1 LIMIT ${MAX_EVENTS_READ}) AS events_of_user
       WHERE event_type = 'impression' AND NOT is_test_send AND ${occurred} >= ${dialect.timestamp('$2')}`,
    ),
    /** Returns rows of the feed with the external IDs of their users. */
    feedEvents: selectFeed(EVENTS, FEED_TABLES.events),
    feedBannerEvents: selectFeed(BANNER_EVENTS, FEED_TABLES.bannerEvents),
  };
};

export type Statements = ReturnType<typeof createStatements>;
/** One process writes the file, so one counter shard is enough. */
export const SQLITE_STATEMENTS = createStatements(SQLITE, 0);
/**
 * Number of counter shards. Each replica increments a random shard, because replicas would wait for each other's lock on a single
 * row.
 */
const SHARDS = 16;
export const POSTGRES_STATEMENTS = createStatements(POSTGRES, randomInt(SHARDS));
