import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { serialOf } from '../../profiles/braze-id.ts';
import type { Profile } from '../../profiles/profile.ts';
import { readProfile } from '../../profiles/profile-text.ts';
import type { StoredEvent } from '../../profiles/stored-event.ts';
import { isNamedBy, lookupKey } from '../../profiles/user-key.ts';
import type { Lookup } from '../../profiles/user-set.ts';
import { unpackEvents } from '../packed-events.ts';
import type { BannerEventRow, Dismissal } from '../store.ts';
import { prepareSettling, type Settled, type Unsettled } from './unsettled.ts';

const BUSY_MS = 10_000;
/** Rows an export holds at once; a page is one short read, so that an export never holds back the log. */
const USERS_PAGE = 500;
const EVENTS_PAGE = 50;

export const prepareForReading = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  // Not read in place (`mmap_size`): a file that grows is mapped anew with every checkpoint, which costs more than copies.
};

const text = (row: Record<string, unknown>, column: string) => row[column] as string;

/** Reads what is committed. */
export const createReader = (database: DatabaseSync) => {
  const byKey = database.prepare(
    'SELECT profile, version FROM user_keys JOIN users ON users.id = user_id WHERE user_keys.workspace_id = ? AND key = ?',
  );
  const byId = database.prepare('SELECT profile, version FROM users WHERE id = ? AND workspace_id = ?');
  const dismissals = database.prepare(
    'SELECT campaign_id, dismissed_at_ms, count FROM dismissals WHERE workspace_id = ? AND external_user_id = ?',
  );
  const usersPage = database.prepare(
    `SELECT id, profile, version FROM users WHERE id > ? AND workspace_id = ? ORDER BY id LIMIT ${USERS_PAGE}`,
  );
  const eventsPage = database.prepare(
    `SELECT request AS id, received_at_ms, events FROM events
     WHERE request > ? AND workspace_id = ? ORDER BY request LIMIT ${EVENTS_PAGE}`,
  );
  const bannerEventsPage = database.prepare(
    `SELECT * FROM banner_events WHERE workspace_id = ? AND is_test_send = 0
     AND (external_user_id, banner_id, event_type, timestamp_ms) > (?, ?, ?, ?)
     ORDER BY external_user_id, banner_id, event_type, timestamp_ms LIMIT ${USERS_PAGE}`,
  );
  const points = database.prepare('SELECT day, points FROM data_points WHERE workspace_id = ? ORDER BY day');
  const secret = database.prepare('SELECT secret FROM secrets WHERE workspace_id = ?');
  const workspaces = database.prepare('SELECT workspace_id FROM secrets ORDER BY workspace_id');
  const progress = database.prepare('SELECT last_request, settled_request FROM progress');
  const lastUser = database.prepare('SELECT max(id) AS id FROM users');

  const settle = prepareSettling(database);

  const rows = (workspaceId: string, lookup: Lookup) => {
    if (lookup.by === 'external_id') {
      const row = byKey.get(workspaceId, lookupKey(lookup));
      return row ? [row] : [];
    }
    if (lookup.by !== 'braze_id') return byKey.all(workspaceId, lookupKey(lookup));
    const serial = serialOf(lookup.value);
    return serial === null ? [] : byId.all(serial, workspaceId);
  };

  /** The profiles that a lookup may name, as their rows have them, which may be behind. */
  const load = (workspaceId: string, lookup: Lookup, weigh?: (characters: number) => void): Profile[] =>
    rows(workspaceId, lookup).map((row) => {
      const stored = text(row, 'profile');
      weigh?.(stored.length);
      return readProfile(stored);
    });

  const settled = (
    workspaceId: string | null,
    onRow?: (row: Unsettled) => void,
  ): Map<string, Settled | null> =>
    settle({
      workspaceId,
      load(workspaceOfRow, brazeId) {
        const row = byId.get(serialOf(brazeId), workspaceOfRow);
        return row && { profile: readProfile(text(row, 'profile')), version: row['version'] as number };
      },
      ...(onRow && { onRow }),
    });

  /** A function that says a row's profile as it is, for readers beside the service. */
  const createCatchUp = (workspaceId: string) => {
    const users = settled(workspaceId);
    return (row: Record<string, unknown>): Profile => {
      const profile = readProfile(text(row, 'profile'));
      const user = users.get(profile.brazeId);
      // A row that was written since knows all that was stored before.
      return user && user.version === row['version'] ? user.profile : profile;
    };
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
    settled,
    progress: () => {
      const row = progress.get();
      return {
        lastRequest: Number(row?.['last_request'] ?? 0),
        settledRequest: Number(row?.['settled_request'] ?? 0),
      };
    },
    workspaceIds: () => workspaces.all().map((row) => text(row, 'workspace_id')),
    lastSerial: () => Number(lastUser.get()?.['id'] ?? 0),

    profiles(workspaceId: string, lookups: Lookup[]): Profile[] {
      const catchUp = createCatchUp(workspaceId);
      const found = new Map<string, Profile>();
      for (const lookup of lookups) {
        for (const row of rows(workspaceId, lookup)) {
          const profile = catchUp(row);
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
      const catchUp = createCatchUp(workspaceId);
      for await (const row of pages(usersPage, workspaceId)) {
        yield catchUp(row);
      }
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
