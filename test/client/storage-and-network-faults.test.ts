import { expect, test, vi } from 'vitest';
import { emptyRecord, recordKey } from '../../src/client/banners/user-record.ts';
import { logName } from '../../src/client/options/options.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import { createFakeService, createFaultyStore } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages, syncs } from './pages.ts';

stagePages();

test('case 43: requests a banner again for a new slot if it was evicted for events', async () => {
  const profile = aProfile();
  const service = createFakeService({ banners: { home_hero: hero } });
  const outbox = createFaultyStore(profile(logName(service.origin, 'app')));
  const openStore = (name: string) => (name === 'placard-banners' ? profile(name) : outbox);
  const { placard, heard } = open({ service, openStore });
  const unmount = placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  outbox.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
  expect(await placard.track(placard.banner('home_hero')!, 'click')).toMatchObject({ type: 'click' });
  unmount();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await vi.waitFor(() => expect(element.textContent).toBe('Summer sale'), PATIENCE);
});

test('case 43: a full disk causes syncs within the budget, not one per event', async () => {
  const profile = aProfile();
  const service = createFakeService({ banners: { home_hero: hero } });
  const outbox = createFaultyStore(profile(logName(service.origin, 'app')));
  const openStore = (name: string) => (name === 'placard-banners' ? profile(name) : outbox);
  const { placard, heard } = open({ service, openStore });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  const banner = placard.banner('home_hero')!;
  for (let i = 0; i < 12; i++) {
    outbox.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['update'] });
    await placard.track(banner, 'click');
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(syncs(service).length).toBeLessThanOrEqual(6);
});

test('case 71: an ad blocker that blocks every track call does not affect banners or clicks', async () => {
  const { placard, service, heard } = open();
  service.fail({ type: 'drop', when: 'before' }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  const event = await placard.track(placard.banner('home_hero')!, 'click');
  expect(event).toMatchObject({ type: 'click' });
  expect(element.textContent).toBe('Summer sale');
  await vi.advanceTimersByTimeAsync(600_000);
  const { pending, inDoubt, delivered } = await placard.diagnostics();
  expect(pending + inDoubt).toBeGreaterThan(0);
  expect(delivered).toBe(0);
  expect(service.requests.length).toBeLessThan(30);
});

test('shows the banner without the cache if the store always fails', async () => {
  const broken = (): Promise<never> => Promise.reject(new Error('blocked'));
  const store = {
    entries: broken,
    get: broken,
    setMany: broken,
    deleteMany: broken,
    update: broken,
    clear: broken,
  };
  const { placard, of, heard } = open({ openStore: () => store });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  expect(of('failed').some(({ kind }) => kind === 'storage')).toBe(true);
});

test.each([
  { banners: null },
  { banners: new Map([['home_hero', null]]) },
  { dismissed: [null] },
  { session: {} },
])(
  'case 46: a corrupt record (%j) does not throw into the page or affect banners and impressions',
  async (damage) => {
    const service = createFakeService({ banners: { home_hero: hero } });
    const openStore = aProfile();
    const record = { ...emptyRecord(), ...damage };
    await openStore('placard-banners').setMany([[recordKey(service.origin, 'app', 'u-1'), record]]);
    const { placard, heard } = open({ service, openStore });
    const element = aSlot();
    placard.mount('home_hero', element, draw);
    placard.banner('home_hero');
    await heard('tracked');
    expect(placard.banner('home_hero')?.id).toBe('bnr-1');
    expect(element.textContent).toBe('Summer sale');
    expect(await openStore('placard-banners').entries()).toMatchObject([
      [
        expect.anything(),
        {
          banners: new Map([
            ['home_hero', expect.objectContaining({ banner: expect.objectContaining({ id: 'bnr-1' }) })],
          ]),
          session: { id: expect.any(String) },
        },
      ],
    ]);
  },
);

test('treats stores wiped under an open page as a first visit, and continues to sync and count', async () => {
  const { placard, service, openStore, of, heard } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('tracked');
  await placard.flush();
  for (const name of ['placard-banners', logName(service.origin, 'app')]) await openStore(name).clear();
  expect(await placard.track(placard.banner('home_hero')!, 'click')).toMatchObject({ type: 'click' });
  await placard.refresh();
  await placard.flush();
  expect(element.textContent).toBe('Summer sale');
  expect(service.events.map(({ type }) => type)).toEqual(['impression', 'click']);
  expect(of('consent')).toEqual([]);
  expect(of('synced')).toHaveLength(2);
  placard.stop();
  const next = open({ service, openStore });
  next.placard.mount('home_hero', aSlot(), draw);
  await next.heard('tracked');
  await next.placard.flush();
  expect(service.events.map(({ type }) => type)).toEqual(['impression', 'click', 'impression']);
});

test('a host’s store that throws synchronously disables the cache, and no method rejects', async () => {
  const broken = (): never => {
    throw new Error('not implemented');
  };
  const openStore = () => ({
    entries: broken,
    get: broken,
    setMany: broken,
    deleteMany: broken,
    update: broken,
    clear: broken,
  });
  const { placard, heard } = open({ openStore });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  const banner = placard.banner('home_hero')!;
  expect(await placard.track(banner, 'dismiss')).toMatchObject({ type: 'dismiss' });
  await placard.identify('u-2');
});
