import 'fake-indexeddb/auto';
import { Session } from 'node:inspector/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createIdbStore } from '../../src/client/platform/idb-store.ts';
import { aSlot, open } from './pages.ts';

/** Maximum number of files on the code path of a click. Lower it when a layer is removed. */
const MAX_FILES = 18;

test('limits the number of source files on the code path of a click', async () => {
  const { placard, heard } = open({
    openStore: createIdbStore,
    // No impression besides the click.
    platform: { IntersectionObserver: globalThis.IntersectionObserver },
  });
  onTestFinished(placard.stop);
  placard.mount('home_hero', aSlot(), () => undefined);
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
  expect(files).toContain('delivery/sender/send.ts');
  expect(files.length, files.sort().join('\n')).toBeLessThanOrEqual(MAX_FILES);
  // A limit far above the actual number would not detect growth.
  expect(files.length, 'lower the bound').toBeGreaterThan(MAX_FILES - 3);
});
