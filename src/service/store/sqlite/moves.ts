import type { DatabaseSync } from 'node:sqlite';
import { prepareUserCampaigns } from './user-campaigns.ts';

/** Gives the rows of one user to another, or deletes them. */
export const prepareMoves = (database: DatabaseSync) => {
  const events = database.prepare('UPDATE events SET user_id = :to WHERE user_id = :from');
  const bannerEvents = database.prepare(
    'UPDATE OR IGNORE banner_events SET user_id = :to WHERE user_id = :from',
  );
  const campaigns = prepareUserCampaigns(database);
  const deletes = ['events', 'banner_events', 'user_campaigns'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE user_id = ?`),
  );

  const erase = (userId: number) => {
    for (const each of deletes) each.run(userId);
  };

  return {
    move(from: number, to: number) {
      events.run({ from, to });
      bannerEvents.run({ from, to });
      campaigns.move(from, to);
      // Among them banner events that both had.
      erase(from);
    },
    erase,
  };
};
