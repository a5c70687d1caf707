import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { recordKey, type UserRecord } from '../../src/client/banners/user-record.ts';
import type { Placard, Store } from '../../src/client/index.ts';
import { createMemoryStore, type KeyRange } from '../../src/client/platform/store.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import { createFakeService, createFaultyStore, buildBanner as wire } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, open, PATIENCE, stagePages, syncs, usersIn } from './pages.ts';

stagePages();

test('cases 51 and 52: the next user does not see data of the previous user, whose events keep their user ID', async () => {
  const service = createFakeService({
    banners: {
      home_hero: ({ external_user_id }) =>
        wire('home_hero', { headline: `For ${external_user_id}` }, { id: `for-${external_user_id}` }),
    },
  });
  const { placard, heard, openStore } = open({ service });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  const theirs = placard.banner('home_hero')!;
  await placard.track(theirs, 'click');
  const switched = placard.identify('u-2');
  expect(element.textContent).toBe('');
  expect(placard.banner('home_hero')).toBeUndefined();
  expect(await placard.track(theirs, 'click')).toBeNull();
  await switched;
  await vi.waitFor(() => expect(element.textContent).toBe('For u-2'), PATIENCE);
  await placard.flush();
  const tracks = service.requests.filter(({ path }) => path.endsWith('/track'));
  for (const { body } of tracks) {
    const { external_user_id, events } = body as { external_user_id: string; events: { id: string }[] };
    for (const { id } of events) expect(id).toBe(`for-${external_user_id}`);
  }
  const kept = inspect(await openStore('placard-banners').entries(), { depth: 9 });
  expect(kept).toContain('For u-2');
  expect(kept).not.toContain('For u-1');
  expect(await usersIn(openStore)).toEqual(['u-2']);
});

const otherUser = (placard: Placard) => placard.identify('u-2').then(() => placard.identify('u-1'));
test.each<[string, (placard: Placard) => Promise<void>]>([
  ['out and in again', (placard) => placard.identify(null).then(() => placard.identify('u-1'))],
  ['in as another user and back', otherUser],
  ['off and on, as consent', (placard) => placard.disable('keep').then(() => placard.enable())],
])('case 56: an unsent dismissal applies after signing %s', async (_, comeBack) => {
  const { placard, service, openStore, of, heard } = open();
  const lift = service.fail(
    { type: 'status', status: 503 },
    { path: TRACK_PATH, times: Number.POSITIVE_INFINITY },
  );
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  const before = of('synced').filter(({ placements }) => placements.length > 0).length;
  await comeBack(placard);
  await heard('synced', before + 1);
  expect(placard.banner('home_hero')).toBeNull();
  placard.stop();
  // The next page of the site, and the one after the service has accepted the dismissal.
  const next = open({ service, openStore });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('synced');
  expect(element.textContent).toBe('');
  lift();
  await vi.advanceTimersByTimeAsync(60_000);
  await next.placard.flush();
  await next.heard('delivered');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(next.of('shown')).toEqual([]);
  expect(service.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
  expect(service.events.filter(({ type }) => type === 'impression')).toEqual([]);
});

/** An outbox whose range reads are slow. Only dismissals are read this way. */
const slowOutbox = (openStore: (name: string) => Store) => {
  const read = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isSlow = false;
  const open = (name: string): Store => {
    const store = openStore(name);
    if (name === 'placard-banners') return store;
    const entries: Store['entries'] = async (range) => {
      if (isSlow) {
        read.resolve();
        await answered.promise;
      }
      return store.entries(range);
    };
    return { ...store, entries };
  };
  return { open, read: read.promise, answer: answered.resolve, slow: () => (isSlow = true) };
};

const signBackIn = async () => {
  const outbox = slowOutbox(aProfile());
  const page = open({ openStore: outbox.open });
  page.service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  page.placard.mount('home_hero', aSlot(), draw);
  await page.heard('shown');
  await page.placard.track(page.placard.banner('home_hero')!, 'click');
  await page.placard.identify(null);
  outbox.slow();
  void page.placard.identify('u-1');
  await outbox.read;
  return { ...page, outbox };
};

test('leaves no timers if it stops while it reads the outbox for dismissals', async () => {
  const { placard, outbox } = await signBackIn();
  placard.stop();
  outbox.answer();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(0);
});

test('an impression before the session starts does not prevent its start', async () => {
  const openStore = aProfile();
  const before = open({ openStore });
  before.placard.mount('home_hero', aSlot(), draw);
  await before.heard('synced');
  before.placard.stop();

  const outbox = slowOutbox(openStore);
  outbox.slow();
  const { placard } = open({ openStore: outbox.open });
  await outbox.read;
  void placard.track(placard.banner('home_hero')!, 'impression');
  await vi.advanceTimersByTimeAsync(1_000);
  outbox.answer();
  await vi.advanceTimersByTimeAsync(600_000);
  // A visible page keeps the session alive.
  const records = await openStore('placard-banners').entries<UserRecord>();
  const seen = records.map(([, { session }]) => Date.now() - session!.visibleAtMs);
  expect(Math.max(...seen)).toBeLessThanOrEqual(60_000);
});

test('shows banners if the outbox stops responding after it opened', async () => {
  const openStore = aProfile();
  let reads = 0;
  const { placard, heard, of } = open({
    openStore(name) {
      const store = openStore(name);
      if (name === 'placard-banners') return store;
      // The first read of the consent choice shows whether the log is usable.
      const entries = <T>(range?: KeyRange) => {
        const isChoice = String(range?.from).startsWith('control');
        reads += Number(isChoice);
        return isChoice && reads > 1 ? new Promise<never>(() => undefined) : store.entries<T>(range);
      };
      return { ...store, entries };
    },
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  expect(of('failed')).toMatchObject([{ kind: 'storage', message: 'Event log unavailable' }]);
});

test('shows banners if the outbox does not respond', async () => {
  const { service, heard } = await signBackIn();
  const before = syncs(service).length;
  await vi.advanceTimersByTimeAsync(2_500);
  await vi.waitFor(() => expect(syncs(service).length).toBe(before + 1), PATIENCE);
  await heard('failed');
});

test('case 56: a dismissal missing from the record hides the banner on the next page', async () => {
  const { placard, service, openStore, heard } = open();
  service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  const banners = openStore('placard-banners');
  const key = recordKey(service.origin, 'app', 'u-1');
  const before = await banners.get<UserRecord>(key);
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  placard.stop();
  // The page was closed before the record was written.
  await banners.setMany([[key, before]]);
  const next = open({ service, openStore });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('hidden');
  expect(next.of('hidden').at(-1)?.reason).toBe('dismissed');
  await next.heard('synced');
  expect(element.textContent).toBe('');
});

test('case 56: an unsent dismissal of another user does not hide banners', async () => {
  const { placard, service, heard } = open();
  service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH, times: Number.POSITIVE_INFINITY });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  await placard.identify('u-2');
  await vi.waitFor(() => expect(placard.banner('home_hero')?.id).toBe('bnr-1'), PATIENCE);
});

test('signing out empties the slots and the cache, and does not send a request', async () => {
  const { placard, service, heard, openStore } = open();
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  await placard.identify(null);
  const before = syncs(service).length;
  await placard.refresh();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(element.textContent).toBe('');
  expect(syncs(service)).toHaveLength(before);
  expect(await openStore('placard-banners').entries()).toEqual([]);
});

test('case 51: starts another user even if the banner store hangs', async () => {
  const banners = createFaultyStore(createMemoryStore());
  const openStore = aProfile();
  const { placard, heard } = open({
    openStore: (name) => (name === 'placard-banners' ? banners : openStore(name)),
  });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  banners.fail({ type: 'hang' }, { times: Number.POSITIVE_INFINITY });
  const switched = placard.identify('u-2');
  await vi.advanceTimersByTimeAsync(10_000);
  await switched;
  expect(placard.banner('home_hero')).toMatchObject({ id: 'bnr-1' });
});

test('reports an invalid user ID and continues without a user', async () => {
  const { placard, service, of } = open({ userId: 'u'.repeat(987) });
  placard.mount('home_hero', aSlot(), draw);
  await vi.advanceTimersByTimeAsync(5_000);
  await placard.identify('');
  expect(service.requests).toEqual([]);
  expect(of('failed').map(({ kind }) => kind)).toEqual(['config', 'config']);
});

test('reports an invalid user ID at creation to a listener that subscribes on the next line', async () => {
  const { placard, of } = open({ userId: '' });
  await placard.diagnostics();
  expect(of('failed')).toMatchObject([{ kind: 'config', message: expect.stringContaining('user ID') }]);
});

test('does not show or store a response for the next user if its listener changes the user', async () => {
  const service = createFakeService({
    banners: {
      broken: wire('broken', {}, { id: 5 as never }),
      home_hero: ({ external_user_id }) => wire('home_hero', {}, { id: `for-${external_user_id}` }),
    },
  });
  const { placard, of, heard, openStore } = open({ service });
  placard.subscribe((notice) => {
    if (notice.type === 'failed' && notice.kind === 'invalid-banner') void placard.identify('u-2');
  });
  placard.mount('broken', aSlot(), draw);
  placard.mount('home_hero', aSlot(), draw);
  await heard('synced');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(of('shown').map(({ banner }) => banner.id)).toEqual(['for-u-2']);
  const kept = inspect(await openStore('placard-banners').entries(), { depth: 9 });
  expect(kept).not.toContain('for-u-1');
});
