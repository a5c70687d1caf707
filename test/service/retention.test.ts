import { afterEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/index.ts';
import { silentLog } from '../../src/service/log.ts';
import { type RetentionOptions, startRetention } from '../../src/service/retention.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../helpers/banner-events.ts';
import { keptOpen, runService } from '../helpers/running-service.ts';
import { anEvent, byExternalId, collect } from './store/examples.ts';
import { anApi, NOW, onBothStores } from './users/on-both-stores.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
/** Stores an event received a given number of days ago. */
const receive = (
  store: Pick<Store, 'write'>,
  workspaceId: string,
  externalId: string,
  event: { name: string; days: number; happenedDays?: number; times?: number },
) =>
  store.write({
    workspaceId,
    lookups: [byExternalId(externalId)],
    nowMs: NOW,
    apply(users) {
      const profile = users.find(byExternalId(externalId))[0] ?? users.create({ externalId }, NOW);
      const { name, days, happenedDays = days, times = 1 } = event;
      for (let i = 0; i < times; i += 1)
        users.record(profile, {
          ...anEvent(profile, name, NOW - happenedDays * DAY),
          receivedAtMs: NOW - days * DAY,
        });
    },
  });

onBothStores('pruning', (_, store) => {
  test('deletes only rows received before the cutoff, in one workspace', async () => {
    const [mine, theirs] = [anApi(store()).workspaceId, anApi(store()).workspaceId];
    for (const days of [400, 11, 9, 1]) {
      for (const workspaceId of [mine, theirs])
        await receive(store(), workspaceId, `u-${days % 3}`, { name: `${days}`, days });
    }
    // Imported past events are kept as long as current ones.
    await receive(store(), mine, 'u-1', { name: 'imported', days: 0, happenedDays: 900 });
    const getNames = async (workspaceId: string) =>
      (await collect(store().exportEvents(workspaceId))).map((event) => 'name' in event && event.name).sort();
    const seen = [1, 20].map((days) =>
      aBannerEvent({ timeMs: NOW - days * DAY, receivedAtMs: NOW - days * DAY }),
    );
    await recordBannerEvents(store(), 'u-1', seen, mine);

    const before = { events: NOW - 10 * DAY, bannerEvents: null };
    expect(await store().prune(mine, before)).toEqual({ events: 2, bannerEvents: 0, hasMore: false });
    expect(await store().prune(mine, before)).toEqual({ events: 0, bannerEvents: 0, hasMore: false });
    expect(await getNames(mine)).toEqual(['1', '9', 'imported']);
    expect(await getNames(theirs)).toEqual(['1', '11', '400', '9']);
    expect(await store().prune(mine, { ...before, events: NOW - 5 * DAY })).toMatchObject({ events: 1 });
    expect(await getNames(mine)).toEqual(['1', 'imported']);

    expect(await store().prune(mine, { events: null, bannerEvents: NOW - 10 * DAY })).toMatchObject({
      events: 0,
      bannerEvents: 1,
    });
    // Targeting data and the counts of the profile stay.
    expect((await store().loadTargetingData(mine, 'u-1')).campaigns).toMatchObject([{ impressions: 2 }]);
    expect(await store().prune(theirs, { events: null, bannerEvents: null })).toMatchObject({
      events: 0,
    });
  });

  test('deletes a banner event with a future device time by its time of receipt', async () => {
    const { workspaceId } = anApi(store());
    const receivedAtMs = NOW - 800 * DAY;
    await recordBannerEvents(
      store(),
      'u-1',
      [
        aBannerEvent({ timeMs: Date.UTC(2099, 0, 1), receivedAtMs }),
        aBannerEvent({ timeMs: NOW, receivedAtMs: NOW }),
      ],
      workspaceId,
    );
    const before = { events: null, bannerEvents: NOW - 400 * DAY };
    expect(await store().prune(workspaceId, before)).toMatchObject({ bannerEvents: 1 });
    expect((await collect(store().exportBannerEvents(workspaceId))).map(({ timeMs }) => timeMs)).toEqual([
      NOW,
    ]);
  });

  test('works in small steps, which grow if they are fast, even if one user has all rows', async () => {
    const api = anApi(store());
    await receive(store(), api.workspaceId, 'kim', { name: 'e', days: 20, times: 2_000 });
    const steps: number[] = [];
    for (let hasMore = true; hasMore; ) {
      const step = await store().prune(api.workspaceId, { events: NOW - 10 * DAY, bannerEvents: null });
      steps.push(step.events);
      ({ hasMore } = step);
    }
    expect(steps.length).toBeGreaterThan(1);
    expect(Math.max(...steps)).toBeLessThanOrEqual(16_000);
    expect(steps.reduce((sum, rows) => sum + rows)).toBe(2_000);
  });

  test('continues a run that failed halfway, also with the later cutoff of the next run', async () => {
    const { workspaceId } = anApi(store());
    await receive(store(), workspaceId, 'kim', { name: 'e', days: 20, times: 2_000 });
    const cutoff = NOW - 10 * DAY;
    let { events, hasMore } = await store().prune(workspaceId, { events: cutoff, bannerEvents: null });
    expect(events).toBeLessThan(2_000);
    while (hasMore) {
      const before = { events: cutoff + 6 * HOUR, bannerEvents: null };
      const step = await store().prune(workspaceId, before);
      events += step.events;
      ({ hasMore } = step);
    }
    expect(events).toBe(2_000);
  });

  test('deletes users without a profile together with their old banner events and decision state', async () => {
    const api = anApi(store());
    const { workspaceId } = api;
    const stale = (days: number) => store().expiredStubUsers(workspaceId, NOW - days * DAY);
    const record = (user: string, days: number) =>
      store().write({
        workspaceId,
        lookups: [{ by: 'external_id', value: user }],
        nowMs: NOW - days * DAY,
        apply: (users) =>
          users.recordBannerEvents(
            user,
            [aBannerEvent({ timeMs: NOW - days * DAY, receivedAtMs: NOW - days * DAY })],
            NOW - days * DAY,
            true,
          ),
      });
    for (const user of ['gone', 'back', 'named']) await record(user, 30);
    await record('back', 5);
    await api.track({ attributes: [{ external_id: 'named', n: 1 }] });
    expect(await stale(10)).toEqual(['gone']);
    await store().write({
      workspaceId,
      lookups: [
        { by: 'external_id', value: 'gone' },
        { by: 'external_id', value: 'back' },
        { by: 'external_id', value: 'named' },
      ],
      nowMs: NOW,
      apply: (users) => {
        for (const user of ['gone', 'back', 'named']) users.expire(user, NOW - 10 * DAY);
      },
    });
    expect(await stale(10)).toEqual([]);
    expect((await store().loadTargetingData(workspaceId, 'gone')).campaigns).toEqual([]);
    for (const user of ['back', 'named'])
      expect((await store().loadTargetingData(workspaceId, user)).campaigns).toHaveLength(1);
  });
});

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

test('prunes each workspace with retention in steps, logs failures, and runs again', async () => {
  const calls: unknown[] = [];
  const rows: unknown[] = [];
  const lines: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const store: RetentionOptions['store'] = {
    prune: async (workspaceId, before) => {
      calls.push([workspaceId, before]);
      if (workspaceId === 'broken') throw new Error('The database is away');
      return calls.length < 3
        ? { events: 3, bannerEvents: 0, hasMore: true }
        : { events: 0, bannerEvents: 2, hasMore: false };
    },
    expiredStubUsers: async () => (calls.length < 4 ? ['u-1', 'u-2'] : []),
    write: async ({ lookups }) => {
      calls.push(lookups);
      resolve();
      return undefined as never;
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
    }),
  );
  await promise;
  const before = { events: NOW - 10 * DAY, bannerEvents: NOW - 30 * DAY };
  await expect.poll(() => calls.length).toBeGreaterThan(4);
  expect(calls.slice(0, 5)).toEqual([
    ['broken', { events: NOW - DAY, bannerEvents: null }],
    ['pruned', before],
    ['pruned', before],
    [
      { by: 'external_id', value: 'u-1' },
      { by: 'external_id', value: 'u-2' },
    ],
    ['broken', { events: NOW - DAY, bannerEvents: null }],
  ]);
  expect(rows.slice(0, 3)).toEqual([
    ['pruned', 'events', 3],
    ['pruned', 'banner_events', 2],
    ['pruned', 'users', 2],
  ]);
  expect(lines[0]).toMatchObject({ workspace: 'broken' });
});

test('prunes the workspace of a service, and reports it in metrics', async () => {
  const store = await openStore(':memory:');
  stops.push(() => store.close());
  for (const days of [30, 1]) await receive(store, 'test', 'kim', { name: `${days}`, days });

  const service = await runService([aWorkspace({ retention: { events_days: 10 } })], {
    store: keptOpen(store),
  });
  stops.push(service.stop);
  await expect
    .poll(async () => (await service.call('GET', '/metrics')).body)
    .toContain('placard_pruned_rows_total{workspace="test",kind="events"} 1');
});
