// Writes a random history from where the database is. Arguments: database, seed, number of batches. Prints the number of each
// batch that is stored.
import { openStore } from '../../../../src/service/store/index.ts';
import { byExternalId } from '../examples.ts';
import {
  type Action,
  applyBatch,
  batchAt,
  GOALS,
  getLookups,
  MARKER,
  TIME_ZONE,
  WORKSPACE,
} from './history.ts';

const [address = '', ...numbers] = process.argv.slice(2);
const [seed = 0, batches = 0] = numbers.map(Number);
const store = await openStore(address);

const act = async (action: Action, nowMs: number): Promise<void> => {
  switch (action.do) {
    case 'catch up':
      await store.catchUpResults();
      break;
    case 'add goals': {
      const { campaignId, count } = action;
      const goals = GOALS[campaignId]!.slice(0, count);
      await store.addGoals(WORKSPACE, { campaignId, goals, timeZone: TIME_ZONE });
      break;
    }
    case 'prune': {
      const { beforeMs } = action;
      for (let hasMore = true; hasMore; )
        ({ hasMore } = await store.prune(WORKSPACE, { events: beforeMs, bannerEvents: beforeMs }));
      for (;;) {
        const stale = await store.expiredStubUsers(WORKSPACE, beforeMs);
        if (stale.length === 0) break;
        const apply = (users: Parameters<Parameters<typeof store.write>[0]['apply']>[0]) => {
          for (const externalId of stale) users.expire(externalId, beforeMs);
        };
        await store.write({ workspaceId: WORKSPACE, lookups: stale.map(byExternalId), nowMs, apply });
      }
    }
  }
};

const [marker] = await store.readUsers(WORKSPACE, [byExternalId(MARKER)]);
const stored = Number(marker?.custom['batch'] ?? 0);
for (let number = Math.max(stored, 1); number <= batches; number += 1) {
  const batch = batchAt(seed, number, batches);
  const { nowMs, action } = batch;
  if (number > stored) {
    const apply = (users: Parameters<typeof applyBatch>[0]) => applyBatch(users, batch);
    await store.write({ workspaceId: WORKSPACE, lookups: getLookups(batch), nowMs, apply });
  }
  await act(action, nowMs);
  // Beside the next batches. A failure to count is a failure of the history.
  void store.catchUpResults();
  process.stdout.write(`${number}\n`);
}
while (!(await store.catchUpResults()).isCaughtUp);
await store.close();
