import { expect } from 'vitest';
import { createBannerCache } from '../../src/client/banners/banner-cache.ts';
import { createClock } from '../../src/client/platform/clock.ts';
import { createMemoryStore } from '../../src/client/platform/store.ts';

/** In-memory banner cache on the test's clock; any failure fails the test. `open` signs a user in. */
export const aBannerCache = (changes: Partial<Parameters<typeof createBannerCache>[0]> = {}) => {
  let id: string | null = null;
  const userId = (): string | null => id;
  const cache = createBannerCache({
    settings: {
      endpoint: 'https://api.example',
      appId: 'app',
      platform: { ...createClock(), random: Math.random, openStore: () => createMemoryStore() },
    },
    store: createMemoryStore(),
    permission: { mayWrite: () => true, userId, update: () => false },
    fail: (_kind, _message, cause) => expect.unreachable(String(cause)),
    ...changes,
  });
  return {
    ...cache,
    userId,
    open(next: string | null = id): Promise<void> {
      id = next;
      return cache.open();
    },
  };
};
