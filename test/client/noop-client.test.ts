import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPlacard, type Notice, type PlacardOptions, type Store } from '../../src/client/index.ts';
import { createMemoryStore } from '../../src/client/platform/store.ts';
import { assertConserved, createFakeService, buildBanner as wire } from '../../src/testing/index.ts';

const OPTIONS = { apiKey: 'client-key', appId: 'app', appVersion: '1', userId: 'u-1' };

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, 'error').mockReturnValue();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const create = (changes: Record<string, unknown>) => {
  const service = createFakeService({ banners: { home_hero: wire('home_hero') } });
  const stores: Store[] = [];
  const platform = {
    fetch: service.fetch,
    openStore() {
      stores.push(createMemoryStore());
      return stores.at(-1)!;
    },
  };
  const options = { ...OPTIONS, endpoint: service.origin, platform, ...changes } as unknown as PlacardOptions;
  const placard = createPlacard(options);
  const notices: Notice[] = [];
  placard.subscribe((notice) => notices.push(notice));
  return { placard, notices, service, stores };
};

test.each([
  [{ endpoint: '' }, 'endpoint'],
  [{ endpoint: undefined }, 'endpoint'],
  [{ endpoint: undefined, instance: 'US-09' }, 'instance'],
  [{ apiKey: undefined }, 'apiKey'],
  [{ appId: '' }, 'appId'],
  [{ appVersion: 3 }, 'appVersion'],
  [{ appVersion: 'v'.repeat(256) }, 'appVersion'],
  [{ userId: undefined }, 'userId'],
])('%j does not throw, render, store or send, and is reported once', async (changes, option) => {
  const { placard, notices, service, stores } = create(changes);
  const slot = document.createElement('div');
  document.body.append(slot);
  const hook = vi.fn();
  const unmount = placard.mount('home_hero', slot, hook);
  await placard.identify('u-2');
  await placard.refresh();
  await placard.enable();
  await vi.advanceTimersByTimeAsync(3_600_000);
  unmount();
  await placard.disable('send');
  await placard.wipe();
  placard.stop();
  expect(hook).not.toHaveBeenCalled();
  expect(service.requests).toEqual([]);
  expect(stores).toEqual([]);
  expect(localStorage).toHaveLength(0);
  const message = expect.stringContaining(`Option "${option}" must be`);
  expect(notices).toEqual([{ type: 'failed', kind: 'config', message, cause: expect.any(TypeError) }]);
  expect(vi.mocked(console.error).mock.calls).toEqual([[message]]);
});

test.each([undefined, null, 'options', 5])('%j in place of the options does not throw', async (options) => {
  const placard = createPlacard(options as never);
  await vi.advanceTimersByTimeAsync(0);
  expect(placard.banner('home_hero')).toBeUndefined();
  const message = 'Placard is off: TypeError: createPlacard() needs options';
  expect(vi.mocked(console.error).mock.calls).toEqual([[message]]);
});

test('creates an inert client if the host’s platform throws', async () => {
  const broken = () => {
    throw new Error('No store today');
  };
  const { notices } = create({ platform: { openStore: broken } });
  await vi.advanceTimersByTimeAsync(0);
  expect(notices).toMatchObject([{ kind: 'config', message: expect.stringContaining('No store today') }]);
});

test('returns the usual values from its methods', async () => {
  const { placard } = create({ endpoint: '' });
  expect(await placard.track({} as never, 'click')).toBeNull();
  expect(await placard.flush()).toEqual({ delivered: 0, pending: 0 });
  expect(await placard.deadLetters()).toEqual([]);
  expect(await placard.retryDeadLetters()).toBeUndefined();
  expect(await placard.discardDeadLetters()).toBeUndefined();
  const diagnostics = await placard.diagnostics();
  expect(diagnostics.captured).toBe(0);
  assertConserved(diagnostics);
});
