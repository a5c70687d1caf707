import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { serialOf } from '../../users/braze-id.ts';
import type { Profile } from '../../users/profile.ts';
import { readProfile } from '../../users/profile-text.ts';
import { isNamedBy, lookupKey } from '../../users/user-key.ts';
import type { Lookup } from '../../users/user-set.ts';
import { unpackEvents } from '../packed-events.ts';
import type { BannerEventRow, Dismissal, StoredEvent } from '../store.ts';

/** Bytes of the file that are read in place. SQLite allows a little under 2 GiB. */
const MMAP_BYTES = 2_000_000_000;
const BUSY_MS = 10_000;
/** Rows an export holds at once; a page is one short read, so that an export never holds back the log. */
const USERS_PAGE = 500;
const EVENTS_PAGE = 50;

export const prepareForReading = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec(`PRAGMA mmap_size = ${MMAP_BYTES}`);
};

const text = (row: Record<string, unknown>, column: string) => row[column] as string;

/** Reads what is committed. */
export const createReader = (database: DatabaseSync) => {
  const byKey = database.prepare(
    'SELECT profile FROM user_keys JOIN users ON users.id = user_id WHERE user_keys.workspace_id = ? AND key = ?',
  );
  const byId = database.prepare('SELECT profile FROM users WHERE id = ? AND workspace_id = ?');
  const dismissals = database.prepare(
    'SELECT campaign_id, dismissed_at_ms, count FROM dismissals WHERE workspace_id = ? AND external_user_id = ?',
  );
  const usersPage = database.prepare(
    `SELECT id, profile FROM users WHERE id > ? AND workspace_id = ? ORDER BY id LIMIT ${USERS_PAGE}`,
  );
  const eventsPage = database.prepare(
    `SELECT id, received_at_ms, events FROM events WHERE id > ? AND workspace_id = ? ORDER BY id LIMIT ${EVENTS_PAGE}`,
  );
  const bannerEventsPage = database.prepare(
    `SELECT * FROM banner_events WHERE workspace_id = ? AND is_test_send = 0
     AND (external_user_id, banner_id, event_type, timestamp_ms) > (?, ?, ?, ?)
     ORDER BY external_user_id, banner_id, event_type, timestamp_ms LIMIT ${USERS_PAGE}`,
  );
  const points = database.prepare('SELECT day, points FROM data_points WHERE workspace_id = ? ORDER BY day');
  const secret = database.prepare('SELECT secret FROM secrets WHERE workspace_id = ?');
  const workspaces = database.prepare('SELECT workspace_id FROM secrets ORDER BY workspace_id');
  const lastUser = database.prepare('SELECT max(id) AS id FROM users');

  /** The profiles that a lookup names, as they are stored. */
  const load = (workspaceId: string, lookup: Lookup): string[] => {
    if (lookup.by === 'braze_id') {
      const serial = serialOf(lookup.value);
      const row = serial === null ? undefined : byId.get(serial, workspaceId);
      return row && readProfile(text(row, 'profile')).brazeId === lookup.value ? [text(row, 'profile')] : [];
    }
    return byKey.all(workspaceId, lookupKey(lookup)).map((row) => text(row, 'profile'));
  };

  async function* pages(statement: StatementSync, workspaceId: string) {
    for (let last = 0; ; ) {
      const rows = statement.all(last, workspaceId);
      yield* rows;
      const end = rows.at(-1);
      if (!end) return;
      last = end['id'] as number;
      // A long export in the service's own process lets other requests through between its pages.
      await new Promise(setImmediate);
    }
  }

  return {
    load,
    workspaceIds: () => workspaces.all().map((row) => text(row, 'workspace_id')),
    lastSerial: () => Number(lastUser.get()?.['id'] ?? 0),

    profiles(workspaceId: string, lookups: Lookup[]): Profile[] {
      const found = new Map<string, Profile>();
      for (const lookup of lookups) {
        for (const stored of load(workspaceId, lookup)) {
          const profile = readProfile(stored);
          if (isNamedBy(profile, lookup)) found.set(profile.brazeId, profile);
        }
      }
      return [...found.values()];
    },

    dismissals: (workspaceId: string, externalUserId: string): Dismissal[] =>
      dismissals.all(workspaceId, externalUserId).map((row) => ({
        campaignId: text(row, 'campaign_id'),
        dismissedAtMs: row['dismissed_at_ms'] as number,
        count: row['count'] as number,
      })),

    secret: (workspaceId: string): string | undefined =>
      secret.get(workspaceId)?.['secret'] as string | undefined,

    async *users(workspaceId: string): AsyncIterable<Profile> {
      for await (const row of pages(usersPage, workspaceId)) yield readProfile(text(row, 'profile'));
    },

    async *events(workspaceId: string): AsyncIterable<StoredEvent> {
      for await (const row of pages(eventsPage, workspaceId)) {
        yield* unpackEvents(text(row, 'events'), row['received_at_ms'] as number);
      }
    },

    async *bannerEvents(workspaceId: string): AsyncIterable<BannerEventRow> {
      for (let after: [string, string, string, number] = ['', '', '', 0]; ; ) {
        const rows = bannerEventsPage.all(workspaceId, ...after).map(
          (row): BannerEventRow => ({
            externalUserId: text(row, 'external_user_id'),
            appId: text(row, 'app_id'),
            bannerId: text(row, 'banner_id'),
            campaignId: text(row, 'campaign_id'),
            variantId: row['variant_id'] as string | null,
            placementId: text(row, 'placement_id'),
            isControl: row['is_control'] === 1,
            isTestSend: row['is_test_send'] === 1,
            eventType: text(row, 'event_type') as BannerEventRow['eventType'],
            timestamp: text(row, 'timestamp'),
            timestampMs: row['timestamp_ms'] as number,
            receivedAtMs: row['received_at_ms'] as number,
          }),
        );
        yield* rows;
        const last = rows.at(-1);
        if (!last) return;
        after = [last.externalUserId, last.bannerId, last.eventType, last.timestampMs];
        await new Promise(setImmediate);
      }
    },

    async *dataPoints(workspaceId: string) {
      for (const row of points.all(workspaceId)) {
        yield { day: text(row, 'day'), points: row['points'] as number };
      }
    },
  };
};

export type Reader = ReturnType<typeof createReader>;
