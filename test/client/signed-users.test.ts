import { expect, test, vi } from 'vitest';
import { userTokens } from '../../src/client/index.ts';
import { createFakeService } from '../../src/testing/index.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages } from './pages.ts';

stagePages();

/** An app that requires user tokens, and accepts `<name>-<user>`. */
const strictService = (name: () => string = () => 'token') =>
  createFakeService({
    banners: { home_hero: hero },
    userToken: (userId, token) => {
      if (token === undefined) return 'missing';
      return token === `${name()}-${userId}` ? null : 'expired';
    },
  });

test('sends the user’s token with syncs and events, and requests it once', async () => {
  const userToken = vi.fn(async (userId: string) => `token-${userId}`);
  const { placard, service, heard } = open({ service: strictService(), use: [userTokens(userToken)] });
  placard.mount('home_hero', aSlot(), draw);
  await heard('tracked');
  await placard.flush();
  await heard('delivered');
  expect(service.requests.map(({ status }) => status)).toEqual([200, 202]);
  for (const { body } of service.requests) expect(body).toMatchObject({ user_token: 'token-u-1' });
  expect(userToken.mock.calls).toEqual([['u-1']]);
});

test('replaces an expired token, and receives the banner with the same sync', async () => {
  let name = 'old';
  const service = strictService(() => name);
  const userToken = vi.fn((userId: string) => `${name}-${userId}`);
  const { placard, of, heard } = open({ service, use: [userTokens(userToken)] });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  await vi.advanceTimersByTimeAsync(120_000);
  name = 'new';
  await placard.refresh();
  expect(userToken).toHaveBeenCalledTimes(2);
  expect(of('failed')).toEqual([]);
  expect(service.requests.filter(({ path }) => path.endsWith('/sync')).map(({ status }) => status)).toEqual([
    200, 401, 200,
  ]);
});

test('without a token, keeps the cached banner, does not send requests and does not throw', async () => {
  const openStore = aProfile();
  const first = open({
    service: strictService(),
    openStore,
    use: [userTokens((userId) => `token-${userId}`)],
  });
  first.placard.mount('home_hero', aSlot(), draw);
  await first.heard('shown');
  first.placard.stop();
  const service = strictService();
  const next = open({ service, openStore, use: [userTokens(() => null)] });
  const element = aSlot();
  next.placard.mount('home_hero', element, draw);
  await next.heard('shown');
  expect(element.textContent).toBe('Summer sale');
  expect(await next.placard.track(next.placard.banner('home_hero')!, 'click')).toMatchObject({
    userId: 'u-1',
  });
  await next.placard.refresh();
  await next.placard.flush();
  expect(service.requests).toEqual([]);
  expect(next.of('failed').map(({ kind }) => kind)).toContain('unauthorized');
});

test('keeps events without an available token until their user signs in again', async () => {
  let name = 'old';
  let isHere = true;
  const service = strictService(() => name);
  const userToken = (userId: string) => (isHere ? `${name}-${userId}` : null);
  const { placard, heard } = open({ service, use: [userTokens(userToken)] });
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  const banner = placard.banner('home_hero')!;
  const clicked = placard.track(banner, 'click');
  name = 'new';
  isHere = false;
  await clicked;
  await placard.identify('u-2');
  expect(await placard.flush()).toMatchObject({ delivered: 0, pending: 1 });
  isHere = true;
  await placard.identify('u-1');
  await vi.waitFor(() => expect(service.events).toMatchObject([{ type: 'click', userId: 'u-1' }]), PATIENCE);
});
