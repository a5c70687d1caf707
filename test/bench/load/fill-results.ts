import { DatabaseSync } from 'node:sqlite';
import type { Goal } from '../../../src/service/index.ts';
import { readLastIds, SQLITE_RESULTS } from '../../../src/service/results/statements.ts';
import { createSendSqlite } from '../../../src/service/store/sqlite/open.ts';
import { createWriter } from '../../../src/service/store/sqlite/writer.ts';
import { fillWithUsers } from './fill.ts';

const DAY_MS = 86_400_000;
const ROWS = 50_000;
/** The campaign that all users have seen, and those that a third of them have seen. */
const CAMPAIGNS = [
  { campaignId: 'campaign-99', share: 1 },
  { campaignId: 'campaign-98', share: 0.3 },
  { campaignId: 'campaign-97', share: 0.3 },
];
const EVENTS_PER_USER = 4;

/** A goal that every 20th event reaches, and one that every 60th event reaches. */
export const GOALS: Goal[] = [
  { event: 'signed_up', withinMs: 7 * DAY_MS },
  { product: 'teapot', withinMs: 7 * DAY_MS },
];

const getDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** A seeded random generator of numbers from 0 to 1. */
const createRandom = () => {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const fillBannerEvents = (database: DatabaseSync, ids: readonly number[], startMs: number) => {
  const random = createRandom();
  const addEvent =
    database.prepare(`INSERT INTO banner_events (user_id, banner_id, event_type, occurred_at, workspace_id,
    campaign_id, variant_id, placement_id, day, app_id, is_control, is_test_send, is_first_of_type, received_at)
    VALUES (?, ?, ?, ?, 'bench', ?, ?, 'home_hero', ?, 'bench-app', ?, 0, 0, ?)`);
  const addCampaign =
    database.prepare(`INSERT INTO user_campaigns (user_id, campaign_id, workspace_id, variant_id,
    is_control, impressions, first_impression_at, last_impression_at, clicks, dismissals, last_dismissal_at, round)
    VALUES (?, ?, 'bench', ?, ?, ?, ?, ?, ?, 0, NULL, 0)`);
  for (const userId of ids) {
    for (const { campaignId, share } of CAMPAIGNS) {
      if (random() > share) continue;
      const isControl = random() < 0.1 ? 1 : 0;
      const half = random() < 0.5 ? 'a' : 'b';
      const variantId = isControl ? null : half;
      // As long as a real banner ID.
      const bannerId = `bnr_${`${campaignId} ${variantId}`.padEnd(90, 'x')}`;
      const add = (type: string, ms: number) =>
        addEvent.run(userId, bannerId, type, ms, campaignId, variantId, getDay(ms), isControl, ms + 50);
      const firstMs = startMs + Math.floor(random() * 28 * DAY_MS);
      const impressions = random() < 0.5 ? 2 : 1;
      const lastMs = firstMs + (impressions - 1) * Math.ceil(random() * 5) * DAY_MS;
      add('impression', firstMs);
      if (impressions === 2) add('impression', lastMs);
      const clicks = !isControl && random() < 0.06 ? 1 : 0;
      if (clicks) add('click', lastMs + 3_000);
      addCampaign.run(userId, campaignId, variantId, isControl, impressions, firstMs, lastMs, clicks);
    }
  }
};

const fillEvents = (database: DatabaseSync, ids: readonly number[], startMs: number) => {
  const random = createRandom();
  const add =
    database.prepare(`INSERT INTO events (workspace_id, user_id, name, product_id, price, currency, quantity,
    app_id, occurred_at, received_at, properties) VALUES ('bench', ?, ?, ?, ?, ?, ?, 'bench-app', ?, ?, ?)`);
  const properties = '{"colour":"red","size":12}';
  for (let i = 0; i < ids.length * EVENTS_PER_USER; i += 1) {
    const userId = ids[Math.floor(random() * ids.length)]!;
    const ms = startMs + Math.floor((i / (ids.length * EVENTS_PER_USER)) * 35 * DAY_MS);
    const kind = random();
    if (kind < 0.05) {
      const product = random() < 1 / 3 ? 'teapot' : 'cup';
      add.run(userId, null, product, 19.99, 'EUR', 1, ms, ms, properties);
    } else {
      const name = kind < 0.1 ? 'signed_up' : 'product_viewed';
      add.run(userId, name, null, null, null, null, ms, ms, properties);
    }
  }
};

/** Inserts `count` users who have all seen `campaign-99`, and five weeks of their events, into a new SQLite file. */
export const fillWithResults = async (file: string, count: number): Promise<void> => {
  await fillWithUsers(file, count);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  const ids = database
    .prepare('SELECT user_id FROM users ORDER BY user_id')
    .all()
    .map((row) => row['user_id'] as number);
  const startMs = Date.now() - 40 * DAY_MS;
  for (const fill of [fillBannerEvents, fillEvents]) {
    for (let from = 0; from < count; from += ROWS) {
      database.exec('BEGIN');
      fill(database, ids.slice(from, from + ROWS), startMs);
      database.exec('COMMIT');
    }
  }
  const { advanceResults } = createWriter(database);
  const through = await readLastIds(SQLITE_RESULTS, createSendSqlite(database));
  while (advanceResults(through).hasMore);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
};
