import { afterEach, expect, test, vi } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import { silentLog } from '../../src/service/log.ts';
import { type RetentionOptions, startRetention } from '../../src/service/retention.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { keptOpen, runService } from '../helpers/running-service.ts';
import { anApi, NOW, onBothStores } from './users/on-both-stores.ts';

const DAY = 24 * 60 * 60 * 1000;
const at = (days: number) => new Date(NOW - days * DAY).toISOString();

onBothStores('pruning', (_, store) => {
  test('deletes what is older and nothing else, user by user, in one workspace', async () => {
    const api = anApi(store());
    const other = anApi(store());
    const events = [1, 9, 11, 400].map((days) => ({
      external_id: `u-${days % 3}`,
      name: `${days}`,
      time: at(days),
    }));
    await api.track({ events });
    await other.track({ events });
    const ids = await store().workspaceIds();
    const [mine, theirs] = ids.sort((one, two) => Number(one.slice(2)) - Number(two.slice(2))).slice(-2);
    const seen = [1, 20].map((days) =>
      aBannerEvent({ timeMs: NOW - days * DAY, receivedAtMs: NOW - days * DAY }),
    );
    await recordBannerEvents(store(), 'u-1', seen, mine);

    const before = { events: NOW - 10 * DAY, bannerEvents: null };
    const step = await store().prune(mine!, before, 0);
    expect(step).toMatchObject({ events: 2, bannerEvents: 0 });
    expect(await store().prune(mine!, before, step.next!)).toEqual({
      events: 0,
      bannerEvents: 0,
      next: null,
    });
    expect((await api.events()).map((event) => event['name']).sort()).toEqual(['1', '9']);
    expect(await other.events()).toHaveLength(4);

    expect(await store().prune(mine!, { events: null, bannerEvents: NOW - 10 * DAY }, 0)).toMatchObject({
      events: 0,
      bannerEvents: 1,
    });
    // What decisions know of the user stays, and so do the counts of the profile.
    expect((await store().bannerUser(mine!, 'u-1')).campaigns).toMatchObject([{ impressions: 2 }]);
    expect(await store().prune(theirs!, { events: null, bannerEvents: null }, 0)).toMatchObject({
      events: 0,
    });
  });
});

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

test('each workspace with a retention is pruned step by step, one that fails is logged, and the next look comes', async () => {
  const calls: unknown[] = [];
  const rows: unknown[] = [];
  const lines: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const store: RetentionOptions['store'] = {
    prune: async (workspaceId, before, after) => {
      calls.push([workspaceId, before, after]);
      if (calls.length === 4) resolve();
      if (workspaceId === 'broken') throw new Error('The database is away');
      return after === 0
        ? { events: 3, bannerEvents: 0, next: 7 }
        : { events: 0, bannerEvents: 2, next: null };
    },
  };
  const workspaces = [
    aWorkspace({ workspace_id: 'broken', retention: { events_days: 1 } }),
    aWorkspace({ workspace_id: 'kept' }),
    aWorkspace({ workspace_id: 'pruned', retention: { events_days: 10, banner_events_days: 30 } }),
  ].map((file) => parseWorkspace(file));
  stops.push(
    startRetention({
      store,
      workspaces: () => workspaces,
      onPruned: (...row) => rows.push(row),
      log: { ...silentLog, error: (facts) => lines.push(facts) },
      now: () => NOW,
      everyMs: 0,
      pauseMs: 0,
    }),
  );
  await promise;
  const before = { events: NOW - 10 * DAY, bannerEvents: NOW - 30 * DAY };
  expect(calls.slice(0, 4)).toEqual([
    ['broken', { events: NOW - DAY, bannerEvents: null }, 0],
    ['pruned', before, 0],
    ['pruned', before, 7],
    ['broken', { events: NOW - DAY, bannerEvents: null }, 0],
  ]);
  expect(rows.slice(0, 2)).toEqual([
    ['pruned', 'events', 3],
    ['pruned', 'banner_events', 2],
  ]);
  expect(lines[0]).toMatchObject({ workspace: 'broken' });
});

test('a service deletes what its workspace keeps no longer, and its metrics count it', async () => {
  const store = await openStore(':memory:');
  stops.push(() => store.close());
  const before = await runService([aWorkspace()], { store: keptOpen(store) });
  const events = [1, 30].map((days) => ({ external_id: 'kim', name: `${days}`, time: at(days) }));
  await before.call('POST', '/users/track', { key: SERVER_KEY, body: { events } });
  await before.stop();

  const service = await runService([aWorkspace({ retention: { events_days: 10 } })], {
    store: keptOpen(store),
  });
  stops.push(service.stop);
  await vi.waitFor(async () => {
    const { body } = await service.call('GET', '/metrics');
    expect(body).toContain('placard_pruned_rows_total{workspace="test",kind="events"} 1');
  });
});
