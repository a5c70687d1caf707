import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { patience } from '../helpers/patience.ts';

// As in Jest's jsdom, and before any module of the client is loaded.
beforeEach(() => {
  vi.stubGlobal('TextEncoder', undefined);
  vi.resetModules();
});
afterEach(() => void vi.unstubAllGlobals());

/** Long, because all modules are loaded again. */
const PATIENCE = { timeout: patience(15_000) };

const open = async (userId: string) => {
  const { createPlacard } = await import('../../src/client/index.ts');
  const app = { apiKey: 'client-key', appId: 'app', appVersion: '1' };
  const placard = createPlacard({ endpoint: 'http://127.0.0.1:9', ...app, userId });
  const reported: string[] = [];
  placard.subscribe((notice) => notice.type === 'failed' && reported.push(notice.message));
  return { placard, reported };
};

test('without TextEncoder, syncs banners and delivers events', async () => {
  const { createPlacard } = await import('../../src/client/index.ts');
  const { createFakeService, buildBanner } = await import('../../src/testing/index.ts');
  const service = createFakeService({ banners: { home_hero: buildBanner('home_hero') } });
  const app = { apiKey: 'client-key', appId: 'app', appVersion: '1', userId: 'u-1' };
  const placard = createPlacard({ endpoint: service.origin, ...app, platform: { fetch: service.fetch } });
  placard.mount('home_hero', document.createElement('div'), () => undefined);
  await vi.waitFor(() => expect(placard.banner('home_hero')).toBeTruthy(), PATIENCE);
  await placard.track(placard.banner('home_hero')!, 'click');
  expect(await placard.flush()).toMatchObject({ delivered: 1, pending: 0 });
  placard.stop();
});

test('without TextEncoder, measures a user ID in bytes', async () => {
  const { placard, reported } = await open(`${'ü'.repeat(493)}x`);
  await vi.waitFor(
    () => expect(reported).toContain('A user ID must be a string of 1 to 986 bytes'),
    PATIENCE,
  );
  placard.stop();
});

test('without TextEncoder, the test kit validates and counts as usual', async () => {
  const { createFakeService } = await import('../../src/testing/index.ts');
  const { utf8Bytes } = await import('../../src/protocol/index.ts');
  expect(['a', 'é', '€', '😀', ''].map(utf8Bytes)).toEqual([1, 2, 3, 4, 0]);
  const { origin, fetch } = createFakeService();
  const headers = { authorization: 'Bearer client-key', 'content-type': 'application/json' };
  const body = JSON.stringify({
    external_user_id: 'ü'.repeat(494),
    app_id: 'app',
    app_version: '1',
    placements: ['home_hero'],
  });
  const answer = await fetch(`${origin}/v1/device-messaging/banners/sync`, { method: 'POST', headers, body });
  expect(await answer.text()).toContain('external_user_id');
});
