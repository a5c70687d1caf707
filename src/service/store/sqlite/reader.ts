import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  collectLookups,
  type DistinctLookups,
  type Lookup,
  parseUserId,
  toIdentifier,
} from '../../profiles/lookup.ts';
import type { Profile } from '../../profiles/profile.ts';
import type { UserRow } from '../../profiles/user-repository.ts';
import { retryUntilCounted } from '../../results/verify.ts';
import { SQLITE } from '../../sql/dialect.ts';
import { readNumber, readTextOrNull, type SqlRow } from '../../sql/row-readers.ts';
import { BANNER_EVENTS, EVENTS } from '../../sql/user-tables.ts';
import { toBannerEventRow, toEventRow, toUserRow } from '../rows.ts';
import { SQLITE_STATEMENTS, selectWithExternalId } from '../statements.ts';
import type { StoreReader } from '../store.ts';
import { createTargetingLoader } from '../targeting-loader.ts';
import { createWorkspaceReads, EXPORT_PAGE, toSample, USERS_PAGE } from '../workspace-reads.ts';
import type { SqliteJobs } from './jobs.ts';
import { createRunSqlite, createSendSqlite } from './open.ts';

const USERS = 'SELECT users.* FROM users';
/** Maximum size of profiles that are parsed in one task. */
const PAGE_CHARACTERS = 500_000;

/** Parses the profile on first access, because a caller may read few profiles of a sample, and profiles may be large. */
const lazyUser = (row: SqlRow): Pick<UserRow, 'externalId' | 'profile'> => {
  let user: UserRow | undefined;
  return {
    externalId: readTextOrNull(row, 'external_id'),
    get profile() {
      user ??= toUserRow(row);
      return user.profile;
    },
  };
};

export const createReader = (database: DatabaseSync, jobs: SqliteJobs) => {
  const run = createRunSqlite(database);
  const send = createSendSqlite(database);
  const begin = database.prepare('BEGIN');
  const end = database.prepare('COMMIT');
  const byIdentifier = database.prepare(
    `${USERS} JOIN user_identifiers USING (user_id) WHERE user_identifiers.workspace_id = ? AND identifier = ?`,
  );
  const byIdentifierPage = database.prepare(
    `${USERS} JOIN user_identifiers USING (user_id) WHERE user_identifiers.workspace_id = ? AND identifier = ?
     AND user_identifiers.user_id > ? ORDER BY user_identifiers.user_id LIMIT ${USERS_PAGE}`,
  );
  const byId = database.prepare(`${USERS} WHERE user_id = ? AND workspace_id = ?`);
  const usersPage = database.prepare(
    `${USERS} WHERE user_id > ? AND workspace_id = ? AND profile IS NOT NULL ORDER BY user_id LIMIT ${EXPORT_PAGE}`,
  );
  // The unary plus keeps SQLite from using an index by workspace, with which it would sort all events for every page.
  const eventsPage = database.prepare(
    `${selectWithExternalId(SQLITE, EVENTS)}
     WHERE event_id > ? AND +events.workspace_id = ? ORDER BY event_id LIMIT ${EXPORT_PAGE}`,
  );
  const bannerEventsPage = database.prepare(
    `${selectWithExternalId(SQLITE, BANNER_EVENTS)}
     WHERE banner_event_id > ? AND +banner_events.workspace_id = ? AND NOT is_test_send
     ORDER BY banner_event_id LIMIT ${EXPORT_PAGE}`,
  );
  const lastUser = database.prepare('SELECT max(user_id) AS id FROM users');

  const rowsBy = (workspaceId: string, lookup: Lookup): SqlRow[] => {
    if (lookup.by !== 'braze_id') return byIdentifier.all(workspaceId, toIdentifier(lookup));
    const userId = parseUserId(lookup.value);
    return userId === null ? [] : byId.all(userId, workspaceId);
  };

  /** Returns each user of the lookups once, from one snapshot. A read transaction per lookup would take a third longer. */
  const users = (coveredLookups: DistinctLookups): UserRow[] => {
    const found = new Map<number, UserRow>();
    begin.run();
    try {
      for (const { workspaceId, lookup } of coveredLookups.values()) {
        for (const row of rowsBy(workspaceId, lookup)) {
          const userId = readNumber(row, 'user_id');
          if (!found.has(userId)) found.set(userId, toUserRow(row));
        }
      }
    } finally {
      end.run();
    }
    return [...found.values()];
  };

  /** Adds the users of a page. Returns the ID of the last user if more users may follow. */
  const readPage = (found: Map<number, Profile>, rows: Iterable<SqlRow>): number | null => {
    let [count, characters] = [0, 0];
    for (const row of rows) {
      const user = toUserRow(row);
      if (user.profile) found.set(user.userId, user.profile);
      count += 1;
      characters += user.characters;
      if (count === USERS_PAGE || characters >= PAGE_CHARACTERS) return user.userId;
    }
    return null;
  };

  /** Yields pages of rows. Other requests run between two pages. */
  async function* pages<T>(
    statement: StatementSync,
    workspaceId: string,
    key: string,
    of: (row: SqlRow) => T,
  ) {
    for (let last = 0; ; ) {
      const rows = statement.all(last, workspaceId);
      for (const row of rows) yield of(row);
      const end = rows.at(-1);
      if (!end) return;
      last = readNumber(end, key);
      await new Promise(setImmediate);
    }
  }

  const reads: Omit<StoreReader, 'close'> = {
    ...createWorkspaceReads(run),

    async readUsers(workspaceId, lookups) {
      const found = new Map<number, Profile>();
      for (const { identifier, lookup } of collectLookups([{ workspaceId, lookups }]).values()) {
        if (lookup.by === 'braze_id') {
          readPage(found, rowsBy(workspaceId, lookup));
          continue;
        }
        let last = readPage(found, byIdentifierPage.iterate(workspaceId, identifier, 0));
        while (last !== null) {
          await new Promise(setImmediate);
          last = readPage(found, byIdentifierPage.iterate(workspaceId, identifier, last));
        }
      }
      return [...found.values()];
    },

    exportUsers: (workspaceId) => pages(usersPage, workspaceId, 'user_id', (row) => toUserRow(row).profile!),
    exportEvents: (workspaceId) => pages(eventsPage, workspaceId, 'event_id', toEventRow),

    exportBannerEvents: (workspaceId) =>
      pages(bannerEventsPage, workspaceId, 'banner_event_id', toBannerEventRow),

    verifyResults: (workspaceId) => retryUntilCounted(() => jobs.run('verifyResults', workspaceId)),

    sampleUsers: async (query) => toSample(await jobs.run('sample', query), lazyUser),
  };

  return {
    users,

    loadTargetingData: createTargetingLoader({
      readUsers: (asked) => users(collectLookups(asked)),
      send,
      statements: SQLITE_STATEMENTS,
    }),

    lastUserId: () => Number(lastUser.get()?.['id'] ?? 0),

    reads,
  };
};

export type Reader = ReturnType<typeof createReader>;
