import { expect, onTestFinished, test, vi } from 'vitest';
import { type ResultsQuery, silentLog } from '../../src/service/index.ts';
import { createService } from '../../src/service/service.ts';
import { startResultsConsumer } from '../../src/service/start-results-consumer.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import type { Workspace } from '../../src/service/workspace/workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { onBothStores } from './users/on-both-stores.ts';

const aFile = (goals: Record<string, string[]>, workspaceId = 'shop') => ({
  workspace_id: workspaceId,
  apps: [],
  api_keys: [],
  placements: [{ placement_id: 'home' }],
  campaigns: Object.entries(goals).map(([campaign_id, events]) => ({
    campaign_id,
    status: 'active',
    placements: ['home'],
    variants: [{ variant_id: 'a', properties: {} }],
    conversions: events.map((event) => ({ event, within_hours: 1 })),
  })),
});

const aConsumer = (all: Workspace[]) => {
  const added: [campaignId: string, goals: string[]][] = [];
  const store = { problem: null as Error | null, refused: 0, steps: 0, isCaughtUp: true };
  let workspaces = all;
  const stop = startResultsConsumer({
    store: {
      async addGoals(_: string, { campaignId, goals }: ResultsQuery) {
        if (store.problem) {
          store.refused += 1;
          throw store.problem;
        }
        added.push([campaignId, goals.map((each) => ('event' in each ? each.event : each.product))]);
      },
      async catchUpResults() {
        store.steps += 1;
        return { asOfMs: 0, isCaughtUp: store.isCaughtUp };
      },
    },
    workspaces: () => workspaces,
    log: silentLog,
    everyMs: 1,
  });
  onTestFinished(stop);
  return {
    added,
    store,
    stop,
    change: (goals: Record<string, string[]>) => {
      workspaces = [parseWorkspace(aFile(goals))];
    },
  };
};

test('adds goals at startup and after changes', async () => {
  const { added, change } = aConsumer([parseWorkspace(aFile({ one: ['bought'] }))]);
  await expect.poll(() => added).toEqual([['one', ['bought']]]);
  change({ one: ['bought', 'left'] });
  await expect.poll(() => added.slice(1)).toEqual([['one', ['bought', 'left']]]);
});

test('retries after a database failure', async () => {
  const { added, change, store } = aConsumer([]);
  store.problem = new Error('away');
  change({ one: ['bought'] });
  await expect.poll(() => store.refused).toBeGreaterThan(1);
  expect(added).toEqual([]);
  store.problem = null;
  await expect.poll(() => added).toEqual([['one', ['bought']]]);
});

test('stops before a backlog is processed', async () => {
  const { store, stop } = aConsumer([]);
  store.isCaughtUp = false;
  await expect.poll(() => store.steps).toBeGreaterThan(3);
  await stop();
  const { steps } = store;
  await new Promise(setImmediate);
  expect(store.steps).toBe(steps);
});

onBothStores('a service', (_, store) => {
  test('adds the goals of its campaigns, and updates results without requests', async () => {
    const workspaceId = `results-${store().kind}`;
    await recordBannerEvents(store(), 'kim', [aBannerEvent()], workspaceId);
    const addGoals = vi.spyOn(store(), 'addGoals');
    const catchUpResults = vi.spyOn(store(), 'catchUpResults');
    const service = createService({
      workspaces: [aFile({ campaign: ['bought'] }, workspaceId)],
      store: { ...store(), addGoals, catchUpResults, close: async () => undefined } as never,
    });
    onTestFinished(service.close);
    await expect.poll(() => catchUpResults).toHaveBeenCalledTimes(1);
    expect(addGoals).toHaveBeenCalledTimes(1);
    expect(await catchUpResults.mock.results[0]!.value).toMatchObject({ isCaughtUp: true });
    const goals = [{ event: 'bought', withinMs: 3_600_000 }];
    expect(
      (await store().campaignResults(workspaceId, { campaignId: 'campaign', goals, timeZone: 'UTC' })).arms,
    ).toMatchObject([{ exposed: 1, goals: [{ converted: 0 }] }]);
  });
});
