import { DatabaseSync } from 'node:sqlite';
import { createUserIds } from '../../../src/service/profiles/lookup.ts';
import { createProfile, profileJson } from '../../../src/service/profiles/profile.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { userId as getExternalId } from './track-body.ts';

const ROWS = 50_000;
const YEAR_MS = 365 * 86_400_000;

/** Inserts `count` users into a new SQLite file, as after a year of use. */
export const fillWithUsers = async (file: string, count: number): Promise<void> => {
  await (await openStore(file)).close();
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  const user = database.prepare(
    `INSERT INTO users (user_id, workspace_id, external_id, profile, version, created_at, updated_at)
     VALUES (?, 'bench', ?, ?, 1, ?, ?)`,
  );
  const key = database.prepare(
    'INSERT INTO user_identifiers (workspace_id, identifier, user_id) VALUES (?, ?, ?)',
  );
  const ids = createUserIds();
  const start = Date.now() - YEAR_MS;
  for (let from = 0; from < count; from += ROWS) {
    database.exec('BEGIN');
    for (let i = from; i < Math.min(count, from + ROWS); i += 1) {
      const createdAtMs = start + Math.floor((i / count) * YEAR_MS);
      const userId = ids.next(createdAtMs);
      const externalId = getExternalId(i);
      const profile = createProfile({
        userId,
        externalId,
        standard: { first_name: 'Katarzyna', country: 'PL' },
        custom: { tier: 'gold', visits: i % 100, newsletter: i % 2 === 0 },
        events: { product_viewed: { first: createdAtMs, last: createdAtMs + 1_000, count: 3 } },
        purchases: { 'sku-1': { first: createdAtMs, last: createdAtMs, count: 1, revenue: 19.99 } },
        createdAtMs,
        updatedAtMs: createdAtMs,
      });
      user.run(userId, externalId, JSON.stringify(profileJson(profile)), createdAtMs, createdAtMs);
      key.run('bench', `external_id:${externalId}`, userId);
    }
    database.exec('COMMIT');
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
};
