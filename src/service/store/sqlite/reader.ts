import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  collectLookups,
  type DistinctLookup,
  type DistinctLookups,
  parseUserId,
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

/** Maximum number and size of users that are read in one task. */
interface PageLimits {
  users: number;
  characters: number;
}
const READ_PAGE: PageLimits = { users: USERS_PAGE, characters: 500_000 };
/** Larger, because later groups wait for the read. */
const GROUP_PAGE: PageLimits = { users: 1_000, characters: 2_000_000 };
const ONE_PAGE: PageLimits = { users: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

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
    `${USERS} JOIN user_identifiers USING (user_id) WHERE user_identifiers.workspace_id = ? AND identifier = ?
     AND user_identifiers.user_id > ? ORDER BY user_identifiers.user_id`,
  );
  const byId = database.prepare(`${USERS} WHERE user_id = ? AND workspace_id = ? AND user_id > ?`);
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

  /** Returns the rows of a lookup after a user ID, in order. */
  const rowsBy = ({ workspaceId, identifier, lookup }: DistinctLookup, after: number): Iterable<SqlRow> => {
    if (lookup.by === 'external_id') return byIdentifier.all(workspaceId, identifier, after);
    if (lookup.by !== 'braze_id') return byIdentifier.iterate(workspaceId, identifier, after);
    const userId = parseUserId(lookup.value);
    return userId === null ? [] : byId.all(userId, workspaceId, after);
  };

  /** Reads each user of the lookups once, in pages. */
  const createUserPages = (distinctLookups: DistinctLookups, max: PageLimits) => {
    const lookups = [...distinctLookups.values()];
    const found = new Set<number>();
    let position = 0;
    let after = 0;
    return {
      hasMore: () => position < lookups.length,

      /** Returns a page from one snapshot. A read transaction per lookup would take a third longer. */
      read(): UserRow[] {
        const page: UserRow[] = [];
        let characters = 0;
        begin.run();
        try {
          for (; position < lookups.length; position += 1) {
            for (const row of rowsBy(lookups[position]!, after)) {
              after = readNumber(row, 'user_id');
              if (found.has(after)) continue;
              found.add(after);
              const user = toUserRow(row);
              page.push(user);
              characters += user.characters;
              if (page.length >= max.users || characters >= max.characters) return page;
            }
            after = 0;
          }
        } finally {
          end.run();
        }
        return page;
      },
    };
  };

  /** Passes each user of the lookups once to `add`, in pages. Other requests run between two pages. */
  const readPages = async (
    distinctLookups: DistinctLookups,
    max: PageLimits,
    add: (page: UserRow[]) => void,
  ): Promise<void> => {
    const pages = createUserPages(distinctLookups, max);
    while (pages.hasMore()) {
      add(pages.read());
      if (pages.hasMore()) await new Promise(setImmediate);
    }
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
      const found: Profile[] = [];
      await readPages(collectLookups([{ workspaceId, lookups }]), READ_PAGE, (page) => {
        for (const { profile } of page) if (profile) found.push(profile);
      });
      return found;
    },

    exportUsers: (workspaceId) => pages(usersPage, workspaceId, 'user_id', (row) => toUserRow(row).profile!),
    exportEvents: (workspaceId) => pages(eventsPage, workspaceId, 'event_id', toEventRow),

    exportBannerEvents: (workspaceId) =>
      pages(bannerEventsPage, workspaceId, 'banner_event_id', toBannerEventRow),

    verifyResults: (workspaceId) => retryUntilCounted(() => jobs.run('verifyResults', workspaceId)),

    sampleUsers: async (query) => toSample(await jobs.run('sample', query), lazyUser),
  };

  return {
    /** Passes each user of a group's lookups once to `add`, in pages. Other requests run between two pages. */
    readGroup: (distinctLookups: DistinctLookups, add: (page: UserRow[]) => void) =>
      readPages(distinctLookups, GROUP_PAGE, add),

    loadTargetingData: createTargetingLoader({
      readUsers: (asked) => createUserPages(collectLookups(asked), ONE_PAGE).read(),
      send,
      statements: SQLITE_STATEMENTS,
    }),

    lastUserId: () => Number(lastUser.get()?.['id'] ?? 0),

    reads,
  };
};

export type Reader = ReturnType<typeof createReader>;
