import { expect } from 'vitest';
import { type BannerCache, createBannerCache } from '../../src/client/banners/banner-cache.ts';
import { createClock } from '../../src/client/platform/clock.ts';
import { createMemoryStore } from '../../src/client/platform/store.ts';

/** A cache of one app, in memory and with the clock of the test, that must not fail. */
export const aBannerCache = (changes: Partial<Parameters<typeof createBannerCache>[0]> = {}): BannerCache =>
  createBannerCache({
    mayWrite: () => true,
    known: () => [],
    endpoint: 'https://api.example',
    appId: 'app',
    store: createMemoryStore(),
    clock: createClock(),
    onChange: () => undefined,
    onError: (cause) => expect.unreachable(String(cause)),
    ...changes,
  });
