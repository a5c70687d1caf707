import { expect, onTestFinished, test, vi } from 'vitest';
import { userTokens } from '../../src/client/index.ts';
import { aSlot, draw, open, PATIENCE, stagePages, syncs } from './pages.ts';

stagePages();

test('contract 7.6: rejects refreshes beyond the budget with a notice, not an exception', async () => {
  const { placard, service, of, heard } = open();
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  for (let i = 0; i < 6; i++) await placard.refresh();
  expect(syncs(service)).toHaveLength(6);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['refresh-budget']);
});

test('contract 7.6: ignores undefined budget options', async () => {
  const banners = { refreshCapacity: undefined, refreshIntervalMs: undefined } as never;
  const { placard, service, of, heard } = open({ banners });
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  for (let i = 0; i < 6; i++) await placard.refresh();
  expect(syncs(service)).toHaveLength(6);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['refresh-budget']);
});

test('contract 7.6: requests the placements passed to refresh(), mounted or not', async () => {
  const { placard, service } = open();
  await placard.refresh(['sidebar']);
  await placard.refresh('checkout' as never);
  expect(syncs(service)).toEqual([['sidebar'], ['checkout']]);
  expect(placard.banner('sidebar')).toBeNull();
});

test('requests mounted placements and those passed to refresh(), but not those of previous views', async () => {
  const { placard, service, heard } = open();
  for (const placementId of ['view_1', 'view_2', 'view_3']) placard.mount(placementId, aSlot(), draw)();
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  await placard.refresh(['sidebar']);
  service.clear();
  await placard.refresh();
  expect(syncs(service)).toEqual([['home_hero', 'sidebar']]);
  // A placement that was left out is requested when it is mounted again.
  placard.mount('view_2', aSlot(), draw);
  await vi.waitFor(() => expect(syncs(service)).toEqual([['home_hero', 'sidebar'], ['view_2']]), PATIENCE);
});

test('treats a refresh right after creation as the first sync of the page, which costs no budget', async () => {
  const { placard, service, of } = open({ banners: { refreshCapacity: 1 } });
  placard.mount('home_hero', aSlot(), draw);
  await placard.refresh();
  expect(placard.banner('home_hero')?.id).toBe('bnr-1');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(syncs(service)).toEqual([['home_hero']]);
  await placard.refresh();
  expect(syncs(service)).toHaveLength(2);
  expect(of('failed')).toEqual([]);
});

test.each([
  [{ userId: null }, 'No user is signed in'],
  [{ consent: 'disabled' as const }, 'There is no consent'],
])('reports why a refresh with %j does nothing', async (options, reason) => {
  const { placard, of } = open(options);
  await placard.refresh(['home_hero']);
  expect(of('failed')).toMatchObject([{ kind: 'sync', message: `${reason}: refresh() was skipped` }]);
});

test('reports invalid options by name and uses the defaults', async () => {
  const { placard, service, of, heard } = open({
    apikey: 'client-key',
    debug: true,
    delivery: { timeoutMs: 0, maxBatchSize: 0, maxEvents: 0 },
    banners: { refreshCapacity: Number.NaN },
  } as never);
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['impression']);
  expect(of('failed').map(({ kind, message }) => [kind, /"(.+)"/.exec(message)![1]])).toEqual([
    ['config', 'banners.refreshCapacity'],
    ['config', 'delivery.timeoutMs'],
    ['config', 'delivery.maxBatchSize'],
    ['config', 'delivery.maxEvents'],
    ['config', 'apikey'],
  ]);
});

test.each([
  [{ consent: 'granted' }, 'Option "consent" must be enabled or disabled or pending'],
  [
    { use: [userTokens('abc' as never)], debug: true },
    'Option "use: [userTokens()]" must be given a function',
  ],
  [{ userToken: 'abc' }, 'Option "userToken" must be left out: it is unknown'],
  [{ apiKey: 'placard_server_N2QxYTBi' }, 'Option "apiKey" must be a client key: this is a server key'],
  [{ apikey: 'client-key', debug: true }, 'Option "apikey" must be left out: it is unknown'],
  [{ visitors: true, debug: true }, 'Option "visitors" must be left out: it is unknown'],
])('logs the page’s mistake %j at once', async (options, message) => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => error.mockRestore());
  const { heard, of } = open(options as never);
  await heard('failed');
  expect(of('failed')[0]).toEqual({ type: 'failed', kind: 'config', message });
  expect(error.mock.calls[0]).toEqual([`Placard: ${message}`]);
});

test('without IntersectionObserver, shows banners, delivers events, and reports once that impressions do not count', async () => {
  vi.stubGlobal('IntersectionObserver', undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { placard, service, of, heard } = open({ platform: { IntersectionObserver: undefined } as never });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  await placard.track(placard.banner('home_hero')!, 'click');
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['click']);
  expect(of('failed')).toEqual([
    { type: 'failed', kind: 'config', message: expect.stringContaining('IntersectionObserver') },
  ]);
});
