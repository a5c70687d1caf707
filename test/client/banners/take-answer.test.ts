import { expect, test } from 'vitest';
import { takeAnswer } from '../../../src/client/banners/take-answer.ts';
import type { Notice } from '../../../src/client/index.ts';
import { createMemoryStore } from '../../../src/client/platform/memory-store.ts';
import type { Store } from '../../../src/client/platform/store.ts';
import { aBanner } from '../../helpers/a-banner.ts';
import { aBannerCache } from '../../helpers/a-banner-cache.ts';

test('tells of an answer when it is stored: whoever hears it may leave the page', async () => {
  const memory = createMemoryStore();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const store: Store = {
    ...memory,
    async update(keys, change) {
      await held;
      return memory.update(keys, change);
    },
  };
  const cache = aBannerCache({ store });
  await cache.open('u-1');
  const notices: Notice[] = [];
  const banner = aBanner({ placementId: 'home' });
  const taken = takeAnswer(
    cache,
    { userId: 'u-1', banners: { home: banner }, askedAtMs: 1, clockSkewMs: undefined },
    (notice) => notices.push(notice),
  );
  await Promise.resolve();
  expect(cache.current('home'), 'it can be shown at once').toEqual(banner);
  expect(notices).toEqual([]);
  release();
  await taken;
  expect(notices).toEqual([{ type: 'synced', placements: ['home'], banners: { home: banner } }]);
  expect(JSON.stringify(await memory.entries())).toContain(banner.id);
});
