import { expect, test, vi } from 'vitest';
import { userTokens } from '../../src/client/index.ts';
import { createFakeService } from '../../src/testing/index.ts';
import { aSlot, draw, hero, open, PATIENCE, stagePages, syncs } from './pages.ts';

/** While set, the chunks of user tokens and of troubles load when it resolves. */
const network = vi.hoisted((): { wait: Promise<void> | undefined } => ({ wait: undefined }));
vi.mock(import('../../src/client/deferred-chunk.ts'), async (original) => {
  const all = await original();
  return {
    ...all,
    retryImport: async (load) => {
      const chunk = await all.retryImport(load);
      if (Object(chunk).createTrouble || Object(chunk).createTokenSource) await network.wait;
      return chunk;
    },
  };
});

stagePages();

test('a chunk whose load hangs does not hold up a refresh, and is used once it is loaded', async () => {
  let arrive = (): void => undefined;
  network.wait = new Promise((resolve) => {
    arrive = resolve;
  });
  const service = createFakeService({ banners: { home_hero: hero } });
  const { placard, of } = open({ service, use: [userTokens((userId) => `token-${userId}`)] });
  placard.mount('home_hero', aSlot(), draw);
  const refreshed = vi.fn();
  void placard.refresh(['home_hero']).then(refreshed);
  await vi.waitFor(() => expect(refreshed).toHaveBeenCalledOnce(), { timeout: 100_000, interval: 1_000 });
  expect(service.requests).toEqual([]);
  expect(of('failed').map(({ kind }) => kind)).toContain('chunk-load');
  network.wait = undefined;
  arrive();
  await vi.advanceTimersByTimeAsync(60_000);
  await placard.refresh();
  await vi.waitFor(() => expect(syncs(service)).toContainEqual(['home_hero']), PATIENCE);
  expect(service.requests[0]!.body).toMatchObject({ user_token: 'token-u-1' });
});
