import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { acceptDismissals, createStoreResponse } from '../../../src/client/banners/sync-response.ts';
import { addDismissals } from '../../../src/client/banners/user-record.ts';
import type { Banner, Notice } from '../../../src/client/index.ts';
import { createMemoryStore, type Store } from '../../../src/client/platform/store.ts';
import { buildBanner, getDismissal } from '../../helpers/a-banner.ts';
import { aBannerCache } from '../../helpers/a-banner-cache.ts';

/** A store whose next update waits until the test releases it. */
const aSlowStore = () => {
  const memory = createMemoryStore();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const store: Store = {
    ...memory,
    async update(keys, change) {
      await held;
      return memory.update(keys, change);
    },
  };
  return { memory, store, release };
};

test('stores a response before it emits the notice, because a listener may navigate', async () => {
  const { memory, store, release } = aSlowStore();
  const cache = aBannerCache({ store });
  await cache.open('u-1');
  const notices: Notice[] = [];
  const banner = buildBanner({ placementId: 'home' });
  const storeResponse = createStoreResponse(cache, cache, (notice) => notices.push(notice));
  const taken = storeResponse({
    userId: 'u-1',
    banners: new Map([['home', banner]]),
    fetchedAtMs: 1,
    clockSkewMs: undefined,
  });
  await Promise.resolve();
  expect(cache.current('home'), 'it can be shown at once').toEqual(banner);
  expect(notices).toEqual([]);
  release();
  await taken;
  expect(notices).toEqual([{ type: 'synced', placements: ['home'], banners: { home: banner } }]);
  expect(inspect(await memory.entries(), { depth: 9 })).toContain(banner.id);
});

test('case 51: does not emit a notice for a response stored after another user has signed in', async () => {
  const { store, release } = aSlowStore();
  const cache = aBannerCache({ store });
  await cache.open('u-1');
  const notices: Notice[] = [];
  const storeResponse = createStoreResponse(cache, cache, (notice) => notices.push(notice));
  const banners = new Map([['home', buildBanner({ placementId: 'home' })]]);
  const taken = storeResponse({ userId: 'u-1', banners, fetchedAtMs: 1, clockSkewMs: undefined });
  await cache.open('u-2');
  release();
  await taken;
  expect(notices).toEqual([]);
});

const open = async () => {
  const cache = aBannerCache();
  await cache.open('u-1');
  const take = createStoreResponse(cache, cache, () => undefined);
  const answer = (banner: Banner | null, fetchedAtMs: number) =>
    take({ userId: 'u-1', banners: new Map([['home', banner]]), fetchedAtMs, clockSkewMs: undefined });
  const shown = () => cache.current('home')?.id ?? null;
  return { cache, answer, shown };
};
const normal = buildBanner({ placementId: 'home', id: 'normal' });
const testSend = buildBanner({ placementId: 'home', id: 'test', isTestSend: true });

test.each([
  ['a banner', normal, testSend],
  ['none', null, testSend],
  ['a test send', testSend, normal],
  ['a test send', testSend, null],
])(
  'case 50: an older response that arrives late, %s, does not change a newer one',
  async (_, older, newer) => {
    const { answer, shown } = await open();
    await answer(newer, 2);
    await answer(older, 1);
    expect(shown()).toBe(newer?.id ?? null);
  },
);

test('contract 7.5: a dismissed test send does not return with the next response', async () => {
  const { cache, answer, shown } = await open();
  await answer(testSend, 1);
  expect(shown()).toBe('test');
  await cache.dismiss([getDismissal(testSend)]);
  expect(shown()).toBeNull();
  await answer(testSend, 2);
  expect(shown()).toBeNull();
});

test('contract 7.5: shows a dismissed test send again if the service still sends it after its grace period', async () => {
  const { cache, answer, shown } = await open();
  await answer(testSend, 1);
  await cache.change((record) => {
    addDismissals(record, [getDismissal(testSend)]);
    acceptDismissals(record, [testSend.id], 1_000);
  });
  await answer(testSend, 600_999);
  expect(shown()).toBeNull();
  await answer(testSend, 601_000);
  expect(shown()).toBe('test');
});

test('contract 7.3: dismissing a test send shows the banner behind it', async () => {
  const { cache, answer, shown } = await open();
  await answer(normal, 1);
  await answer(testSend, 2);
  expect(shown()).toBe('test');
  await cache.dismiss([getDismissal(testSend)]);
  expect(shown()).toBe('normal');
});

test('contract 7.5: a test send in front of a dismissed banner does not restore the banner', async () => {
  const { cache, answer, shown } = await open();
  await answer(normal, 1);
  await cache.dismiss([getDismissal(normal)]);
  await answer(testSend, 2);
  expect(shown()).toBe('test');
  await answer(normal, 3);
  expect(shown()).toBeNull();
});
