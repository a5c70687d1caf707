import type { DatabaseSync } from 'node:sqlite';
import type { Changes } from '../../profiles/changes.ts';
import { addEvent, type CampaignState, createCounts, mergeUsers, repeatsOf } from '../campaign-state.ts';
import { addCounts, tallyEvents, writeStates } from '../campaign-statements.ts';
import { alikeOf, bannerEventRow, campaignRow, countRow, stateOf } from '../rows.ts';
import { LANE, valuesOf } from './write-set.ts';

const values = (count: number) => `VALUES (${Array(count).fill('?').join(', ')})`;

/** Writes banner events with what follows from them: `user_campaigns`, and the counts of campaigns. */
export const createBannerEventWriter = (database: DatabaseSync) => {
  const insert = database.prepare(
    `INSERT OR IGNORE INTO banner_events (user_id, banner_id, event_type, time, workspace_id, campaign_id, variant_id,
       placement_id, day, app_id, is_control, is_test_send, received_at, language) ${values(14)}`,
  );
  const statesOf = database.prepare('SELECT * FROM user_campaigns WHERE user_id = ?');
  const stateAt = database.prepare('SELECT * FROM user_campaigns WHERE user_id = ? AND campaign_id = ?');
  const write = database.prepare(writeStates(values(13)));
  const add = database.prepare(addCounts(values(11)));
  const tally = database.prepare(tallyEvents('?'));
  const move = database.prepare('UPDATE OR IGNORE banner_events SET user_id = ? WHERE user_id = ?');

  const readStates = (userId: number) => statesOf.all(userId).map(stateOf);
  const alike = (userId: number) => tally.all(userId).map(alikeOf);

  return ({ moved, uncounted, bannerEvents }: Pick<Changes, 'moved' | 'uncounted' | 'bannerEvents'>) => {
    const counts = createCounts();

    for (const { from, to } of moved) {
      const [kept, merged] = [readStates(to), readStates(from)];
      const before = [...alike(to), ...alike(from)];
      for (const { workspaceId, state } of [...kept, ...merged]) counts.takeAway(workspaceId, state);
      move.run(to, from);
      const repeats = repeatsOf(before, alike(to));
      const workspaceId = (kept[0] ?? merged[0])?.workspaceId ?? '';
      const onlyStates = (rows: typeof kept): CampaignState[] => rows.map(({ state }) => state);
      for (const state of mergeUsers(onlyStates(kept), onlyStates(merged), repeats)) {
        counts.add(workspaceId, state);
        write.run(...valuesOf(campaignRow({ workspaceId, userId: to, state })));
      }
    }
    for (const userId of uncounted)
      for (const { workspaceId, state } of readStates(userId)) counts.takeAway(workspaceId, state);

    const states = new Map<string, { workspaceId: string; userId: number; state: CampaignState | null }>();
    for (const each of bannerEvents) {
      const isFresh = insert.run(...valuesOf(bannerEventRow(each))).changes === 1;
      const { workspaceId, userId, event } = each;
      if (!isFresh || event.isTestSend) continue;
      const name = `${userId} ${event.campaignId}`;
      let known = states.get(name);
      if (!known) {
        const row = stateAt.get(userId, event.campaignId);
        known = { workspaceId, userId, state: row ? stateOf(row).state : null };
        counts.takeAway(workspaceId, known.state);
        states.set(name, known);
      }
      known.state = addEvent(known.state, event);
    }
    for (const { workspaceId, userId, state } of states.values()) {
      counts.add(workspaceId, state);
      write.run(...valuesOf(campaignRow({ workspaceId, userId, state: state! })));
    }
    for (const count of counts.rows()) add.run(...valuesOf(countRow(count, LANE)));
  };
};
