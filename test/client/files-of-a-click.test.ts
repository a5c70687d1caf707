import 'fake-indexeddb/auto';
import { Session } from 'node:inspector/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createPlacard, type Notice } from '../../src/client/index.ts';
import { createFakeService, aBanner as wire } from '../../src/testing/index.ts';

/** A reader who follows a click opens these. Lower it where a layer goes. */
const MAX_FILES = 34;

test('a click, from `track` to its settled answer, runs through few files', async () => {
  const service = createFakeService({ banners: { home_hero: wire('home_hero') } });
  const notices: Notice[] = [];
  const placard = createPlacard({
    endpoint: service.origin,
    apiKey: 'client-key',
    appId: 'app',
    appVersion: '1',
    userId: 'u-1',
    platform: { fetch: service.fetch },
  });
  onTestFinished(placard.stop);
  placard.subscribe((notice) => notices.push(notice));
  const heard = (type: Notice['type']) =>
    vi.waitFor(() => expect(notices.map((notice) => notice.type)).toContain(type), { timeout: 15_000 });
  const slot = document.createElement('div');
  document.body.append(slot);
  placard.mount('home_hero', slot, () => undefined);
  await heard('synced');
  await placard.flush();

  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await placard.track(placard.banner('home_hero')!, 'click');
  await heard('delivered');
  const { result } = await session.post('Profiler.takePreciseCoverage');

  const files = result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0))
    .flatMap(({ url }) => /\/src\/client\/([^?]+)/.exec(url)?.[1] ?? []);
  expect(files).toContain('delivery/sender/settle.ts');
  expect(files.length, files.sort().join('\n')).toBeLessThanOrEqual(MAX_FILES);
  // A bound far above the figure holds nothing.
  expect(files.length, 'lower the bound').toBeGreaterThan(MAX_FILES - 3);
});
