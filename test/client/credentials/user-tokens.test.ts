import { expect, test, vi } from 'vitest';
import type { ProvideToken } from '../../../src/client/user/token-source.ts';
import { createVirtualClock } from '../../../src/testing/index.ts';
import { aUserTokens } from '../../helpers/user-tokens.ts';

const MINUTE = 60_000;

/** A JWT, of which the client reads only `exp`. */
const tokenUntil = (endsAtMs: number, name = 'signature'): string =>
  `header.${btoa(JSON.stringify({ exp: endsAtMs / 1_000, who: 'José?>' }))
    .replaceAll('+', '-')
    .replaceAll('/', '_')}.${name}`;

const arrange = (answer: (clock: ReturnType<typeof createVirtualClock>) => ProvideToken) => {
  const clock = createVirtualClock();
  const failures: string[] = [];
  const provide = vi.fn(answer(clock));
  const tokens = aUserTokens(provide, clock, (_, message) => failures.push(message));
  return { clock, provide, tokens, failures };
};

test('requests one token per user for any number of concurrent requests', async () => {
  const { provide, tokens } = arrange((clock) => async (user) => tokenUntil(clock.now() + 60 * MINUTE, user));
  const [first, again, other] = await Promise.all([tokens.get('kim'), tokens.get('kim'), tokens.get('lee')]);
  expect(first).toMatch(/\.kim$/);
  expect(again).toBe(first);
  expect(other).toMatch(/\.lee$/);
  expect(await tokens.get('kim')).toBe(first);
  expect(provide.mock.calls).toEqual([['kim'], ['lee']]);
});

test('replaces a token one minute before it expires', async () => {
  const { clock, provide, tokens } = arrange((at) => () => tokenUntil(at.now() + 10 * MINUTE));
  await tokens.get('kim');
  await clock.advance(8 * MINUTE);
  expect(tokens.isReady('kim')).toBe(true);
  await clock.advance(2 * MINUTE);
  expect(tokens.isReady('kim')).toBe(false);
  await tokens.get('kim');
  expect(provide).toHaveBeenCalledTimes(2);
});

test.each([
  ['cannot be read', () => 'opaque'],
  ['has no expiry', () => `header.${btoa('{}')}.signature`],
])('keeps a token that %s until the service rejects it', async (_, token) => {
  const { clock, tokens, provide } = arrange(() => token);
  await tokens.get('kim');
  await clock.advance(30 * 24 * 60 * MINUTE);
  expect(await tokens.get('kim')).toBe(token());
  expect(provide).toHaveBeenCalledTimes(1);
});

test('uses each new token for a minute on a device hours ahead, without a request loop', async () => {
  const { clock, provide, tokens } = arrange((at) => () => tokenUntil(at.now() - 5 * 60 * MINUTE));
  await tokens.get('kim');
  expect(tokens.isReady('kim')).toBe(true);
  await clock.advance(MINUTE + 1);
  await tokens.get('kim');
  expect(provide).toHaveBeenCalledTimes(2);
});

test.each<[string, ProvideToken, number]>([
  ['returns null', () => null, 5 * MINUTE],
  ['returns an empty string', () => '', 5 * MINUTE],
  [
    'throws',
    () => {
      throw new Error('signed out');
    },
    MINUTE / 2,
  ],
  ['rejects', () => Promise.reject(new Error('offline')), MINUTE / 2],
  ['is not a function', 'a token' as never, MINUTE / 2],
])('if the host %s, the client pauses the user and notifies the host', async (_, provide, pauseMs) => {
  const clock = createVirtualClock();
  const failures: string[] = [];
  const tokens = aUserTokens(provide, clock, (kind, message) => failures.push(`${kind}: ${message}`));
  expect(await tokens.get('kim')).toBeUndefined();
  expect(tokens.pausedUntil('kim')).toBe(clock.now() + pauseMs);
  expect(tokens.isPaused('lee')).toBe(false);
  expect(failures).toEqual([
    expect.stringMatching(/^unauthorized: The .*user token.*: the events of this user wait$/),
  ]);
  await clock.advance(pauseMs);
  expect(tokens.isPaused('kim')).toBe(false);
  await tokens.get('kim');
  expect(failures, 'the host is asked again').toHaveLength(2);
});

test('treats a host that does not respond within ten seconds as failed', async () => {
  const { clock, tokens } = arrange(() => () => new Promise<string>(() => undefined));
  const asking = tokens.get('kim');
  await clock.advance(10_000);
  expect(await asking).toBeUndefined();
  expect(tokens.isPaused('kim')).toBe(true);
});

test('replaces a rejected older token at once, and pauses the user after the service rejects a new token', async () => {
  const { clock, provide, tokens, failures } = arrange((at) => () => tokenUntil(at.now() + 60 * MINUTE));
  const older = await tokens.get('kim');
  await clock.advance(2 * MINUTE);
  tokens.reject('kim', older, 'unknown_key');
  expect(tokens.isPaused('kim')).toBe(false);
  const newer = await tokens.get('kim');
  expect(provide).toHaveBeenCalledTimes(2);
  tokens.reject('kim', newer, 'unknown_key');
  expect(tokens.isPaused('kim')).toBe(true);
  expect(failures).toEqual([expect.stringContaining('unknown_key')]);
  expect(await tokens.get('kim')).toBeUndefined();
  expect(provide).toHaveBeenCalledTimes(2);
});

test('counts a rejected token once if two concurrent requests sent it', async () => {
  const { clock, tokens } = arrange((at) => () => tokenUntil(at.now() + 60 * MINUTE));
  const sent = await tokens.get('kim');
  await clock.advance(2 * MINUTE);
  tokens.reject('kim', sent, 'expired');
  tokens.reject('kim', sent, 'expired');
  expect(tokens.isPaused('kim')).toBe(false);
  const next = await tokens.get('kim');
  expect(next).not.toBe(sent);
  tokens.reject('kim', sent, 'expired');
  expect(tokens.current('kim')).toBe(next);
  expect(tokens.isPaused('kim')).toBe(false);
});

test('a sign-in ends all pauses once', async () => {
  const { tokens } = arrange(() => () => null);
  await tokens.get('kim');
  expect(tokens.resume()).toBe(true);
  expect(tokens.isPaused('kim')).toBe(false);
  expect(tokens.resume()).toBe(false);
});

test('ends a pause if the clock is set back', async () => {
  const { clock, tokens } = arrange(() => () => null);
  await tokens.get('kim');
  clock.jump(-24 * 60 * MINUTE);
  expect(tokens.isPaused('kim')).toBe(false);
});

test('does not require a token for visitors or without the option', async () => {
  const visitor = 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';
  const { provide, tokens } = arrange(() => () => 'token');
  expect(tokens.isReady(visitor)).toBe(true);
  expect(await tokens.get(visitor)).toBeUndefined();
  expect(provide).not.toHaveBeenCalled();
  const without = aUserTokens(undefined, createVirtualClock(), () => undefined);
  expect(without.isReady('kim')).toBe(true);
  expect(await without.get('kim')).toBeUndefined();
});
