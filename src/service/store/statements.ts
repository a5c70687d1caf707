import { randomInt } from 'node:crypto';
import { redactAuditSubject } from '../operators/index.ts';
import type { SqlValue } from '../row-readers.ts';
import { columns } from '../sql/columns.ts';
import { type BulkStatement, type Dialect, POSTGRES, query, SQLITE, selectList } from '../sql/dialect.ts';
import { createWrites } from '../sql/writes.ts';
import {
  BANNER_EVENT_ID,
  BANNER_EVENTS,
  DATA_POINTS,
  DELETED_USERS,
  EVENT_ID,
  EVENTS,
  REJECT_IDENTIFIERS,
  USER_CAMPAIGNS,
  USER_CHANGES,
  USER_IDENTIFIERS,
  USERS,
  type WithShard,
  type WrittenBannerEvent,
} from './rows.ts';

/**
 * Maximum number of banner events of one user that a decision reads to count the impressions of the last days. A user has some
 * hundreds, but a page can send any number for its own user, and each sync would read all of them.
 */
const MAX_EVENTS_READ = 10_000;

/** Columns that identify a banner event. */
const EVENT_KEY = columns<WrittenBannerEvent>({
  of_user: ['bigint', ({ userId }) => userId],
  of_campaign: ['text', ({ event }) => event.campaignId],
  of_banner: ['text', ({ event }) => event.bannerId],
  of_type: ['text', ({ event }) => event.eventType],
  at: ['timestamp', ({ event }) => event.timeMs],
});

/** Creates the statements of users and campaigns for one database. Counters are incremented in `shard`. */
const createStatements = (dialect: Dialect, shard: number) => {
  const { isIn, list, earlier, timestamp, moveRows, ms, bulk, onConflictDoNothing, returningWritten } =
    dialect;
  const { indexEvents, lockMerges, ofUser } = dialect;
  const { add, insert, upsert } = createWrites(dialect);
  const occurred = earlier('occurred_at', 'received_at');
  const userCampaigns = `SELECT ${selectList(dialect, USER_CAMPAIGNS)} FROM user_campaigns`;
  const defineQuery =
    (sql: string) =>
    (...values: SqlValue[]): BulkStatement =>
      query(sql, ...values);
  const ofUsers = isIn('user_id', '$1', 'bigint');
  const addDataPoints = add('data_points', DATA_POINTS, 'workspace_id, day, shard');

  return {
    // Increments the version of rows that were read. Does not set the constant workspace, because setting it would update its
    // indexes.
    updateUsers: bulk(
      USERS,
      ({ joined, column }) =>
        `UPDATE users SET ${USERS.filter(({ name }) => name !== 'user_id' && name !== 'workspace_id')
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
    insertUsers: insert('users', USERS, onConflictDoNothing),
    insertIdentifiers: insert('user_identifiers', USER_IDENTIFIERS, onConflictDoNothing),
    deleteIdentifiers: bulk(
      USER_IDENTIFIERS,
      ({ joined, column }) =>
        `DELETE FROM user_identifiers ${joined('USING')} WHERE ${USER_IDENTIFIERS.map(
          ({ name }) => `user_identifiers.${name} = ${column(name)}`,
        ).join(' AND ')}`,
    ),
    insertEvents: insert('events', EVENTS),
    /** Returns the banner events that are already stored. */
    storedBannerEvents: bulk(
      EVENT_KEY,
      ({ joined, column }) =>
        `SELECT user_id, campaign_id, banner_id, event_type, ${ms('occurred_at')} AS occurred_at FROM banner_events ${joined(',')}
         WHERE user_id = ${column('of_user')} AND campaign_id = ${column('of_campaign')} AND banner_id = ${column('of_banner')}
           AND event_type = ${column('of_type')} AND occurred_at = ${column('at')}`,
    ),
    insertBannerEvents: insert('banner_events', BANNER_EVENTS),
    insertChanges: insert('user_changes', USER_CHANGES),
    writeUserCampaigns: upsert('user_campaigns', USER_CAMPAIGNS, 'user_id, campaign_id'),
    addDataPoints: (
      rows: Parameters<typeof addDataPoints>[0] extends readonly WithShard<infer T>[] ? readonly T[] : never,
    ): BulkStatement => addDataPoints(rows.map((row) => ({ ...row, shard }))),

    indexEvents,
    lockMerges,
    /** Moves the events of user `$1` to user `$2`. */
    moveEvents: defineQuery(
      dialect === SQLITE
        ? `UPDATE events SET user_id = $2 WHERE ${ofUser('= $1')}`
        : moveRows('events', [...EVENTS, EVENT_ID]),
    ),
    moveBannerEvents: defineQuery(moveRows('banner_events', [...BANNER_EVENTS, BANNER_EVENT_ID])),
    erase: (users: readonly number[]): BulkStatement[] =>
      users.length === 0
        ? []
        : [
            ...indexEvents,
            query(`DELETE FROM events WHERE ${ofUser(isIn('', '$1', 'bigint'))}`, list(users)),
            ...['banner_events', 'user_campaigns'].map((table) =>
              query(`DELETE FROM ${table} WHERE ${ofUsers}`, list(users)),
            ),
          ],
    redactAuditSubject: defineQuery(redactAuditSubject('$1', '$2')),
    deleteRejects: bulk(
      REJECT_IDENTIFIERS,
      ({ joined, column }) =>
        `DELETE FROM ingestion_rejects ${joined('USING')}
         WHERE ingestion_rejects.workspace_id = ${column('workspace_id')} AND ingestion_rejects.user_identifier = ${column('user_identifier')}`,
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
      `SELECT banner_event_id, campaign_id, holdout_id, event_type, day, placement_id, language
       FROM banner_events WHERE user_id = $1 AND NOT is_test_send AND (campaign_id, banner_id, event_type, occurred_at) IN
         (SELECT campaign_id, banner_id, event_type, occurred_at FROM banner_events WHERE user_id = $2)`,
    ),
    impressionsSince: defineQuery(
      `SELECT campaign_id, ${ms(occurred)} AS occurred_at
       FROM (SELECT * FROM banner_events WHERE user_id = $1 LIMIT ${MAX_EVENTS_READ}) AS theirs
       WHERE event_type = 'impression' AND NOT is_test_send AND ${occurred} >= ${timestamp('$2')}`,
    ),
    /** Returns rows of the feed with the external IDs of their users. */
    feedEvents: defineQuery(
      `SELECT event_id, events.workspace_id, external_id, ${selectList(
        dialect,
        EVENTS.filter(({ name }) => name !== 'workspace_id'),
      )} FROM events JOIN users USING (user_id) WHERE event_id > $1 AND event_id <= $2 ORDER BY event_id LIMIT $3`,
    ),
    feedBannerEvents: defineQuery(
      `SELECT banner_event_id, banner_events.workspace_id, external_id, ${selectList(
        dialect,
        BANNER_EVENTS.filter(({ name }) => name !== 'workspace_id'),
      )} FROM banner_events JOIN users USING (user_id)
       WHERE banner_event_id > $1 AND banner_event_id <= $2 ORDER BY banner_event_id LIMIT $3`,
    ),
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
