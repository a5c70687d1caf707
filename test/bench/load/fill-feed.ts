import { DatabaseSync } from 'node:sqlite';
import { fillWithUsers } from './fill.ts';

const DAY_MS = 86_400_000;
const CAMPAIGNS = ['campaign-99', 'campaign-98', 'campaign-97'];

/** Inserts users, and four weeks of banner events in the order of their time, which results have not counted, into a new SQLite file. */
export const fillWithFeed = async (file: string, users: number, bannerEvents: number): Promise<void> => {
  await fillWithUsers(file, users);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; BEGIN');
  const ids = database
    .prepare('SELECT user_id FROM users')
    .all()
    .map((row) => row['user_id'] as number);
  const add = database.prepare(
    `INSERT INTO banner_events (user_id, banner_id, event_type, occurred_at, workspace_id, campaign_id, variant_id, placement_id,
       day, app_id, is_control, is_test_send, is_first_of_type, received_at)
     VALUES (?, ?, ?, ?, 'bench', ?, ?, 'home_hero', ?, 'bench-app', ?, 0, 0, ?)`,
  );
  const startMs = Date.now() - 40 * DAY_MS;
  let state = 1;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let i = 0; i < bannerEvents; i += 1) {
    const user = Math.floor(random() * users);
    const campaignId = CAMPAIGNS[Math.floor(random() * CAMPAIGNS.length)]!;
    const isControl = user % 10 === 0;
    const variantId = isControl ? null : ['a', 'b'][user % 2]!;
    const eventType = isControl || random() < 0.9 ? 'impression' : 'click';
    const ms = startMs + Math.floor((i / bannerEvents) * 28 * DAY_MS);
    // As long as a real banner ID, and unique.
    const bannerId = `bnr_${`${campaignId} ${i}`.padEnd(90, 'x')}`;
    const day = new Date(ms).toISOString().slice(0, 10);
    add.run(ids[user]!, bannerId, eventType, ms, campaignId, variantId, day, Number(isControl), ms + 50);
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
};
