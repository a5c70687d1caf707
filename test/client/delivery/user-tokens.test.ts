// @vitest-environment node
import { expect, test, vi } from 'vitest';
import { isVisitorId } from '../../../src/protocol/index.ts';
import { assertConserved } from '../../../src/testing/index.ts';
import { createWorld, type World } from './world.ts';

/** Valid until the test changes it. */
const good = new Set<string>();
const strictWorld = () => {
  good.clear();
  return createWorld({
    userToken: (userId, token) => {
      if (isVisitorId(String(userId))) return null;
      if (token === undefined) return 'missing';
      return good.has(String(token)) && String(token).endsWith(`-${userId}`) ? null : 'expired';
    },
  });
};

const grant = (userId: string, name = 'token'): string => {
  const token = `${name}-${userId}`;
  good.add(token);
  return token;
};
const getTokens = ({ service }: World) =>
  service.requests.map(({ body, status }) => [(body as { user_token?: string }).user_token, status]);

test('sends events with their user’s token, including those of previously signed-in users', async () => {
  const world = strictWorld();
  const tab = world.openTab({ userToken: async (userId) => grant(userId) });
  await Promise.all([tab.capture('b1', 'click', 'kim'), tab.capture('b2', 'click', 'lee')]);
  expect(await tab.delivery.flush()).toEqual({ delivered: 2, pending: 0 });
  expect(getTokens(world)).toEqual([
    ['token-kim', 202],
    ['token-lee', 202],
  ]);
});

test('a user without a token waits without losing events or blocking other users', async () => {
  const world = strictWorld();
  let isHere = false;
  const tab = world.openTab({ userToken: (userId) => (userId === 'kim' && !isHere ? null : grant(userId)) });
  await tab.captureMany(3, 'click', 'kim');
  await tab.captureMany(2, 'click', 'lee');
  expect(await tab.delivery.flush()).toEqual({ delivered: 2, pending: 3 });
  expect(tab.getNotices('in-doubt')).toEqual([]);
  expect(tab.getNotices('paused')).toEqual([]);
  isHere = true;
  await world.clock.advance(6 * 60_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 5, delivered: 5, pending: 0 });
  assertConserved(await tab.delivery.diagnostics());
  expect(world.service.requests.every(({ status }) => status === 202)).toBe(true);
});

test('a user whose tokens cannot be loaded waits without blocking visitors, and is asked for every 30 seconds', async () => {
  const world = strictWorld();
  let isBlocked = true;
  const loadTokenSource = vi.fn(async () => {
    if (isBlocked) throw new TypeError('Failed to fetch dynamically imported module');
  });
  const tab = world.openTab({ userToken: (userId) => grant(userId), loadTokenSource });
  await tab.capture('b1', 'click', 'kim');
  await tab.capture('b2', 'click', 'placard-visitor-123e4567-e89b-42d3-a456-426614174000');
  expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 1 });
  await world.clock.advance(29_000);
  expect(loadTokenSource).toHaveBeenCalledOnce();
  expect(tab.getNotices('failed')).toMatchObject([{ kind: 'unauthorized' }]);
  isBlocked = false;
  await world.clock.advance(10_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 2, delivered: 2, pending: 0 });
});

test('replaces a token that expired in flight after the 401, without losses or duplicates', async () => {
  const world = strictWorld();
  let round = 0;
  const tab = world.openTab({
    userToken: (userId) => {
      round += 1;
      return grant(userId, `token${round}`);
    },
  });
  await tab.capture('b1');
  await tab.delivery.flush();
  await world.clock.advance(10 * 60_000);
  good.clear();
  await tab.captureMany(3);
  expect(await tab.delivery.flush()).toEqual({ delivered: 3, pending: 0 });
  expect(getTokens(world)).toEqual([
    ['token1-u1', 202],
    ['token1-u1', 401],
    ['token2-u1', 202],
  ]);
  expect(world.service.events).toHaveLength(4);
  expect(tab.getNotices('failed')).toEqual([]);
});

test('calls a service that rejects every token twice, then again after five minutes', async () => {
  const world = createWorld({ userToken: () => 'unknown_key' });
  const tab = world.openTab({ userToken: () => 'token' });
  await tab.captureMany(3);
  await tab.delivery.flush();
  await world.clock.advance(4 * 60_000);
  expect(world.service.requests.length).toBeLessThanOrEqual(2);
  expect(tab.getNotices('failed').map(({ message }) => message)).toEqual([
    expect.stringContaining('unknown_key'),
  ]);
  await world.clock.advance(60 * 60_000);
  expect(world.service.requests.length).toBeLessThanOrEqual(15);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 3, pending: 3, delivered: 0 });
});

test('a tab without the option leaves events that require tokens to a tab with the option', async () => {
  const world = strictWorld();
  const bare = world.openTab();
  await bare.captureMany(2);
  await bare.delivery.flush();
  expect(getTokens(world)).toEqual([[undefined, 401]]);
  expect(bare.getNotices('failed').map(({ message }) => message)).toEqual([
    expect.stringContaining('missing'),
  ]);
  const page = world.openTab({ userToken: (userId) => grant(userId) });
  expect(await page.delivery.flush()).toMatchObject({ delivered: 2 });
});

test('an exiting page sends events that it has a token for, and keeps the rest stored', async () => {
  const world = strictWorld();
  const tab = world.openTab({ userToken: (userId) => grant(userId), options: { maxDelayMs: 600_000 } });
  await tab.capture('b1', 'click', 'kim');
  await tab.delivery.flush();
  await tab.capture('b2', 'click', 'kim');
  await tab.capture('b3', 'click', 'lee');
  tab.tell('hidden');
  await world.settle();
  expect(getTokens(world)).toEqual([
    ['token-kim', 202],
    ['token-kim', 202],
  ]);
  tab.kill();
  const next = world.openTab({ userToken: (userId) => grant(userId) });
  await next.delivery.flush();
  expect(await next.delivery.diagnostics()).toMatchObject({ captured: 3, delivered: 3 });
  expect(world.service.events).toHaveLength(3);
});

test('does not hold a lease while the host computes a token, so the batch is not in doubt', async () => {
  const world = strictWorld();
  const tab = world.openTab({
    userToken: (userId) =>
      new Promise((resolve) => world.clock.setTimeout(() => resolve(grant(userId)), 9_000)),
  });
  await tab.captureMany(3);
  const flushed = tab.delivery.flush();
  await world.clock.advance(5_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 3, inDoubt: 0 });
  await world.clock.advance(5_000);
  expect(await flushed).toEqual({ delivered: 3, pending: 0 });
  expect(world.service.requests).toHaveLength(1);
});

test('case 27: the token of each batch counts against the exit-flush budget', async () => {
  const world = strictWorld();
  // Nothing is due before the page hides.
  const tab = world.openTab({
    options: { maxDelayMs: 60 * 60_000, maxBatchSize: 2_000 },
    userToken: (userId) => grant(userId, 't'.repeat(3_000)),
  });
  const users = Array.from({ length: 30 }, (_, i) => `user${i}`);
  await Promise.all(users.map((userId) => tab.capture('warm', 'click', userId)));
  await tab.delivery.flush();
  [world.service.requests.length, world.options.length] = [0, 0];
  await Promise.all(users.map((userId) => tab.captureMany(20, 'click', userId)));
  tab.tell('hidden');
  await world.settle();
  expect(world.options.length).toBeGreaterThan(5);
  expect(world.options.every(({ keepalive }) => keepalive)).toBe(true);
  const bytes = world.service.requests.reduce((sum, { text }) => sum + text.length, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(60_000);
});

test('replaces a token at once if both batches of an exit flush sent it', async () => {
  const world = strictWorld();
  let round = 0;
  const tab = world.openTab({
    options: { maxBatchSize: 1 },
    userToken: (userId) => {
      round += 1;
      return grant(userId, `token${round}`);
    },
  });
  await tab.capture('warm');
  await tab.delivery.flush();
  await world.clock.advance(5 * 60_000);
  good.clear();
  await tab.capture('b1');
  await tab.capture('b2');
  tab.tell('hidden');
  await world.settle();
  tab.tell('visible');
  await world.clock.advance(1_000);
  expect(await tab.delivery.flush()).toMatchObject({ pending: 0 });
  expect(getTokens(world).filter(([, status]) => status === 401)).toHaveLength(2);
  expect(world.service.events).toHaveLength(3);
  expect(tab.getNotices('failed')).toEqual([]);
});
