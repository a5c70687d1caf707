import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { forgetRejects } from '../../integrations/records.ts';
import { forgetSubject, type SqlRow, type Statement } from '../../operators/index.ts';
import { type Changes, noChanges } from '../../profiles/user-set.ts';
import {
  addCampaignCounts,
  addDataPoints,
  addGoalCounts,
  insertInto,
  questionsIn,
  SQLITE,
  writeStates,
} from '../dialect.ts';
import { type Deed, deedIn, type KeptGoals, keptGoals } from '../goals.ts';
import {
  askAtOnce,
  type CountedTables,
  changesCounts,
  countGoals,
  type GoalStep,
  keepCounts,
  STATES_A_STEP,
} from '../keep-counts.ts';
import {
  alikeOf,
  BANNER_EVENTS,
  CAMPAIGN_COUNTS,
  type Column,
  DATA_POINTS,
  EVENTS,
  GOAL_COUNTS,
  stateOf,
  USER_CAMPAIGNS,
  USER_KEYS,
  USERS,
} from '../rows.ts';
import { BUSY_MS, createRunSqlite } from './open.ts';

/** Pages that the write-ahead log may hold before the next commit moves them into the file: 64 MiB. Busy rows move once, not often. */
export const CHECKPOINT_PAGES = 16_384;
const CACHE_KIB = 64 * 1024;
/** One process writes the file. */
const LANE = 0;

export const setForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

/** What rows have in their columns, one after the other, as SQLite has it: a boolean is a number, JSON is text. */
const valuesOf = <T>(columns: readonly Column<T>[], rows: readonly T[]): SQLInputValue[] => {
  const list: SQLInputValue[] = [];
  for (const row of rows) {
    for (const { of } of columns) {
      const value = of(row);
      if (typeof value === 'boolean') list.push(Number(value));
      else if (typeof value === 'object' && value !== null) list.push(JSON.stringify(value));
      else list.push(value as SQLInputValue);
    }
  }
  return list;
};

/**
 * What one transaction writes: flat lists of the values of all rows that a statement runs for, in the order of its
 * parameters. The lists cross to the writer's thread, and plain lists cross fastest.
 */
export const writeSetOf = (changes: Changes, also: Statement[] = []) => ({
  events: valuesOf(EVENTS, changes.events),
  updated: valuesOf(USERS, changes.updated),
  created: valuesOf(USERS, changes.created),
  deleted: changes.deleted.map(({ userId }): SQLInputValue => userId),
  keysRemoved: valuesOf(USER_KEYS, changes.keysRemoved),
  keysAdded: valuesOf(USER_KEYS, changes.keysAdded),
  erased: changes.erased as SQLInputValue[],
  forgotten: changes.forgotten.flatMap(({ workspaceId, externalId }): SQLInputValue[] => [
    workspaceId,
    externalId,
  ]),
  points: valuesOf(
    DATA_POINTS,
    changes.points.map((each) => ({ ...each, lane: LANE })),
  ),
  counted: { moved: changes.moved, uncounted: changes.uncounted, bannerEvents: changes.bannerEvents },
  also,
});

export type WriteSet = ReturnType<typeof writeSetOf>;
export const NOTHING: WriteSet = writeSetOf(noChanges());

const placeholders = (columns: readonly unknown[]) => `VALUES (${columns.map(() => '?').join(', ')})`;

/** Statements for each list of rows, in the order in which they run once the counts are kept. */
const STATEMENTS: [Exclude<keyof WriteSet, 'events' | 'counted' | 'also'>, string][] = [
  [
    'updated',
    // The workspace stays: to set it, if only to what it is, writes its index as well.
    `UPDATE users SET ${USERS.slice(2)
      .map(({ name }, index) => `${name} = ?${index + 3}`)
      .join(', ')} WHERE user_id = ?1 AND workspace_id = ?2`,
  ],
  ['created', insertInto('users', USERS, placeholders(USERS))],
  ['deleted', 'DELETE FROM users WHERE user_id = ?'],
  ['keysRemoved', 'DELETE FROM user_keys WHERE workspace_id = ? AND key = ? AND user_id = ?'],
  ['keysAdded', insertInto('user_keys', USER_KEYS, placeholders(USER_KEYS))],
  ['erased', 'DELETE FROM events WHERE user_id = ?'],
  ['erased', 'DELETE FROM banner_events WHERE user_id = ?'],
  ['erased', 'DELETE FROM user_campaigns WHERE user_id = ?'],
  ['forgotten', forgetSubject('?', '?')],
  ['forgotten', forgetRejects('?', '?')],
  ['points', addDataPoints(placeholders(DATA_POINTS))],
];

/** The tables that are asked while counts are kept, on the connection that writes. */
const countedTables = (database: DatabaseSync): CountedTables => {
  const run = createRunSqlite(database);
  const questions = questionsIn(SQLITE);
  const insert = database.prepare(
    insertInto('banner_events', BANNER_EVENTS, placeholders(BANNER_EVENTS)).replace(
      'INSERT INTO',
      'INSERT OR IGNORE INTO',
    ),
  );
  const write = database.prepare(writeStates(placeholders(USER_CAMPAIGNS)));
  const addToCampaign = database.prepare(addCampaignCounts(placeholders(CAMPAIGN_COUNTS)));
  const addToGoal = database.prepare(addGoalCounts(placeholders(GOAL_COUNTS)));
  const deedsOf = database.prepare(
    `SELECT name, product_id, time, price, quantity, currency FROM events
     WHERE user_id = ? AND time >= ? AND ${SQLITE.isIn('coalesce(product_id, name)', '?', 'text')}`,
  );
  return {
    run,
    statesOf: (users, campaigns) =>
      (campaigns
        ? run(questions.statesOfCampaigns, [JSON.stringify(users), JSON.stringify(campaigns)])
        : run(questions.statesOf, [JSON.stringify(users)])
      ).map(stateOf),
    statesAfter: (...asked) => run(questions.statesAfter, [...asked, STATES_A_STEP]).map(stateOf),
    alikeEvents: (userId) => run(questions.alikeEvents, [userId]).map(alikeOf),
    moveEvents(from, to) {
      run('UPDATE events SET user_id = $2 WHERE user_id = $1', [from, to]);
      run('UPDATE OR IGNORE banner_events SET user_id = $2 WHERE user_id = $1', [from, to]);
    },
    insertBannerEvents: (events) =>
      events.filter((event) => insert.run(...valuesOf(BANNER_EVENTS, [event])).changes === 1),
    deedsSince(users, names) {
      const list = JSON.stringify(names);
      return users.flatMap(({ userId, sinceMs }) =>
        deedsOf.all(userId, sinceMs, list).map((row) => ({ userId, deed: deedIn(row) })),
      );
    },
    writeStates(states) {
      for (const state of states) write.run(...valuesOf(USER_CAMPAIGNS, [state]));
    },
    addCounts({ campaigns, goals }) {
      for (const count of campaigns)
        addToCampaign.run(...valuesOf(CAMPAIGN_COUNTS, [{ ...count, lane: LANE }]));
      for (const count of goals) addToGoal.run(...valuesOf(GOAL_COUNTS, [{ ...count, lane: LANE }]));
    },
  };
};

/** Where a column of an event is in a flat list. */
const AT = Object.fromEntries(EVENTS.map(({ name }, index) => [name, index]));

/** The events that are goals of a campaign. */
const deedsAmong = (events: readonly SQLInputValue[], kept: KeptGoals) => {
  const deeds: { workspaceId: string; userId: number; deed: Deed }[] = [];
  if (kept.version === 0) return deeds;
  for (let i = 0; i < events.length; i += EVENTS.length) {
    const workspaceId = events[i + AT['workspace_id']!] as string;
    const productId = events[i + AT['product_id']!];
    const name = productId === null ? `event:${events[i + AT['name']!]}` : `product:${productId}`;
    if (kept.campaignsWith(workspaceId, name).length === 0) continue;
    const row = Object.fromEntries(EVENTS.map(({ name }, index) => [name, events[i + index]]));
    deeds.push({ workspaceId, userId: row['user_id'] as number, deed: deedIn(row) });
  }
  return deeds;
};

/** Writes in transactions of which each is stored whole, or not at all where it throws. */
export const createWriter = (database: DatabaseSync) => {
  const prepare = (sql: string) => ({
    statement: database.prepare(sql),
    parameters: sql.split('?').length - 1,
  });
  const addEvent = prepare(insertInto('events', EVENTS, placeholders(EVENTS)));
  const statements = STATEMENTS.map(([list, sql]) => ({ list, ...prepare(sql) }));
  const tables = countedTables(database);
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  const readGoals = () => {
    const rows = database.prepare('SELECT * FROM campaign_goals').all();
    return keptGoals(rows, Math.max(0, ...rows.map((row) => Number(row['version']))));
  };
  /** This connection alone changes them. */
  let kept = readGoals();

  const runFor = ({ statement, parameters }: ReturnType<typeof prepare>, values: SQLInputValue[]) => {
    for (let i = 0; i < values.length; i += parameters) statement.run(...values.slice(i, i + parameters));
  };

  const inTransaction = <T>(work: () => T): T => {
    begin.run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has rolled back on its own after some errors; the first error is the one to tell.
      }
      throw error;
    }
  };

  return {
    /** Runs a statement by itself. */
    run: tables.run as (sql: string, values: readonly SQLInputValue[]) => SqlRow[],

    write(rows: WriteSet): void {
      inTransaction(() => {
        runFor(addEvent, rows.events);
        const deeds = deedsAmong(rows.events, kept);
        // Before users go, as it reads what they have, and moves it.
        if (changesCounts({ ...rows.counted, deeds }))
          tables.addCounts(askAtOnce(keepCounts(tables, kept, { ...rows.counted, deeds })));
        for (const { list, ...prepared } of statements) runFor(prepared, rows[list]);
        for (const { sql, values } of rows.also) tables.run(sql, values);
      });
    },

    countGoals(step: GoalStep): boolean {
      const hasMore = inTransaction(() => askAtOnce(countGoals(tables, step)));
      if (step.goals !== null) kept = readGoals();
      return hasMore;
    },
  };
};

export type Writer = ReturnType<typeof createWriter>;
