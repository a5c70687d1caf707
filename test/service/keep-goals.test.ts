import { expect, onTestFinished, test, vi } from 'vitest';
import type { ResultsQuestion } from '../../src/service/index.ts';
import { startKeepingGoals } from '../../src/service/keep-goals.ts';
import { silentLog } from '../../src/service/log.ts';
import { createService } from '../../src/service/service.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import type { Workspace } from '../../src/service/workspace/workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { onBothStores } from './users/on-both-stores.ts';

const HOUR = 3_600_000;

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

const aKeeper = (all: Workspace[]) => {
  const asked: [campaignId: string, goals: string[]][] = [];
  const disk = { problem: null as Error | null, refused: 0 };
  let workspaces = all;
  const stop = startKeepingGoals({
    store: {
      async keepGoals(_: string, { campaignId, conversions }: ResultsQuestion) {
        if (disk.problem) {
          disk.refused += 1;
          throw disk.problem;
        }
        asked.push([campaignId, conversions.map((each) => ('event' in each ? each.event : each.product))]);
      },
    },
    workspaces: () => workspaces,
    log: silentLog,
    everyMs: 1,
  });
  onTestFinished(stop);
  return {
    asked,
    disk,
    change: (goals: Record<string, string[]>) => {
      workspaces = [parseWorkspace(aFile(goals))];
    },
  };
};

test('goals are kept from the start, and where they change', async () => {
  const { asked, change } = aKeeper([parseWorkspace(aFile({ one: ['bought'] }))]);
  await expect.poll(() => asked).toEqual([['one', ['bought']]]);
  change({ one: ['bought', 'left'] });
  await expect.poll(() => asked.slice(1)).toEqual([['one', ['bought', 'left']]]);
});

test('a database that fails is asked again', async () => {
  const { asked, change, disk } = aKeeper([]);
  disk.problem = new Error('away');
  change({ one: ['bought'] });
  await expect.poll(() => disk.refused).toBeGreaterThan(1);
  expect(asked).toEqual([]);
  disk.problem = null;
  await expect.poll(() => asked).toEqual([['one', ['bought']]]);
});

onBothStores('a service', (_, store) => {
  test('keeps the goals of its campaigns', async () => {
    const kept = vi.spyOn(store(), 'keepGoals');
    const workspaceId = `goals-${store().kind}`;
    const service = createService({
      workspaces: [aFile({ campaign: ['bought'] }, workspaceId)],
      store: { ...store(), keepGoals: kept, close: async () => undefined } as never,
    });
    onTestFinished(service.close);
    await expect.poll(() => kept).toHaveBeenCalledTimes(1);
    await kept.mock.results[0]!.value;
    await recordBannerEvents(store(), 'kim', [aBannerEvent()], workspaceId);
    const conversions = [{ event: 'bought', withinMs: HOUR }];
    expect(
      (await store().campaignResults(workspaceId, { campaignId: 'campaign', conversions })).arms,
    ).toMatchObject([{ exposed: 1, goals: [{ converted: 0 }] }]);
  });
});
