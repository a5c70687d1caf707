import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { BANNER_EVENT_COLUMNS, type Group } from './group.ts';

/** Pages that the write-ahead log may hold before they move into the file: 64 MiB. Busy rows move once, not often. */
const CHECKPOINT_PAGES = 16_384;
const CACHE_KIB = 64 * 1024;
const BUSY_MS = 10_000;

export const prepareForWriting = (database: DatabaseSync): void => {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  database.exec('PRAGMA journal_mode = WAL');
  // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
};

/** Stores one group in one transaction, or nothing of it. */
export const createWriter = (database: DatabaseSync): ((group: Group) => void) => {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const insertUser = database.prepare(
    'INSERT INTO users (id, workspace_id, profile, version) VALUES (?, ?, ?, ?)',
  );
  const updateUser = database.prepare('UPDATE users SET profile = ?, version = ? WHERE id = ?');
  const deleteUser = database.prepare('DELETE FROM users WHERE id = ?');
  const addKey = database.prepare(
    'INSERT OR IGNORE INTO user_keys (workspace_id, key, user_id) VALUES (?, ?, ?)',
  );
  const removeKey = database.prepare(
    'DELETE FROM user_keys WHERE workspace_id = ? AND key = ? AND user_id = ?',
  );
  const insertEvents = database.prepare(
    'INSERT INTO events (request, workspace_id, received_at_ms, newest_ms, events) VALUES (?, ?, ?, ?, CAST(? AS TEXT))',
  );
  const insertBannerEvent = database.prepare(
    `INSERT OR IGNORE INTO banner_events (${BANNER_EVENT_COLUMNS.join(', ')})
     VALUES (${BANNER_EVENT_COLUMNS.map(() => '?').join(', ')})`,
  );
  // A banner is of one eligibility round: dismissing it twice, or late, or another of its round starts no other one.
  const dismiss = database.prepare(
    `INSERT INTO dismissals (workspace_id, external_user_id, campaign_id, dismissed_at_ms, banner_id, count)
     VALUES (?, ?, ?, ?, ?, ? + 1)
     ON CONFLICT DO UPDATE SET
       dismissed_at_ms = max(dismissed_at_ms, excluded.dismissed_at_ms),
       count = max(count, excluded.count),
       banner_id = excluded.banner_id`,
  );
  const addPoints = database.prepare(
    `INSERT INTO data_points (workspace_id, day, points) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET points = points + excluded.points`,
  );
  const addSecret = database.prepare('INSERT OR IGNORE INTO secrets (workspace_id, secret) VALUES (?, ?)');
  const insertJournal = database.prepare(
    'INSERT INTO journal (request, workspace_id, attributes) VALUES (?, ?, CAST(? AS TEXT))',
  );
  const clearJournal = database.prepare('DELETE FROM journal WHERE request <= ?');
  const setProgress = database.prepare('UPDATE progress SET last_request = ?, settled_request = ?');

  const write = (group: Group) => {
    const { inserts, updates, deletes, keys, journal, events, bannerEvents, points } = group;
    for (let i = 0; i < inserts.length; i += 4) {
      insertUser.run(inserts[i]!, inserts[i + 1]!, inserts[i + 2]!, inserts[i + 3]!);
    }
    for (let i = 0; i < updates.length; i += 3) {
      updateUser.run(updates[i]!, updates[i + 1]!, updates[i + 2]!);
    }
    for (const id of deletes) deleteUser.run(id);
    for (let i = 0; i < keys.length; i += 4) {
      const change = keys[i + 3] === 1 ? addKey : removeKey;
      change.run(keys[i]!, keys[i + 1]!, keys[i + 2]!);
    }
    for (let i = 0; i < journal.length; i += 3) {
      insertJournal.run(journal[i]!, journal[i + 1]!, journal[i + 2]!);
    }
    for (let i = 0; i < events.length; i += 5) {
      insertEvents.run(events[i]!, events[i + 1]!, events[i + 2]!, events[i + 3]!, events[i + 4]!);
    }
    for (let i = 0; i < bannerEvents.length; i += BANNER_EVENT_COLUMNS.length + 1) {
      const row: SQLInputValue[] = bannerEvents.slice(i, i + BANNER_EVENT_COLUMNS.length);
      const round = bannerEvents[i + BANNER_EVENT_COLUMNS.length]!;
      const isNew = insertBannerEvent.run(...row).changes === 1;
      const [workspaceId, userId, bannerId, type, timestampMs, , campaignId, , , , isTestSend] = row;
      if (isNew && type === 'dismiss' && isTestSend === 0) {
        // A clock that runs ahead must not hide a campaign for longer.
        const dismissedAtMs = Math.min(Number(timestampMs), Number(row.at(-1)));
        dismiss.run(workspaceId!, userId!, campaignId!, dismissedAtMs, bannerId!, round);
      }
    }
    for (let i = 0; i < points.length; i += 3) addPoints.run(points[i]!, points[i + 1]!, points[i + 2]!);
    for (let i = 0; i < group.secrets.length; i += 2) addSecret.run(group.secrets[i]!, group.secrets[i + 1]!);
    if (group.progress) {
      const { lastRequest, settledRequest } = group.progress;
      clearJournal.run(settledRequest);
      setProgress.run(lastRequest, settledRequest);
    }
  };

  return (group) => {
    begin.run();
    try {
      write(group);
      commit.run();
    } catch (error) {
      try {
        rollback.run();
      } catch {
        // SQLite has rolled back on its own after some errors; the first error is the one to tell.
      }
      throw error;
    }
  };
};
