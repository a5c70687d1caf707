import { expect, test } from 'vitest';
import { createUserRateLimiter } from '../../../src/service/api/pipeline.ts';

const RULE = { requests: 2, windowSeconds: 60 };
const AT = Date.parse('2026-03-01T09:00:20Z');
const END = Date.parse('2026-03-01T09:01:00Z');

test('allows each user the full limit in each window', () => {
  const take = createUserRateLimiter();
  const ask = (nowMs: number) => take('shop:sync', 'u-1', RULE, nowMs);
  expect(ask(AT)).toEqual({ allowed: true, limit: 2, remaining: 1, resetAtMs: END });
  expect(ask(AT + 1)).toMatchObject({ allowed: true, remaining: 0 });
  expect(ask(AT + 2)).toEqual({ allowed: false, limit: 2, remaining: 0, resetAtMs: END });
  expect(ask(END)).toMatchObject({ allowed: true, remaining: 1 });
});

test('counts users and endpoints separately', () => {
  const take = createUserRateLimiter();
  const long = 'x'.repeat(900);
  for (const scope of ['shop:sync', 'shop:track']) {
    for (const user of ['u-1', 'u-2', `${long}1`, `${long}2`]) {
      expect(take(scope, user, RULE, AT).remaining).toBe(1);
      expect(take(scope, user, RULE, AT).remaining).toBe(0);
      expect(take(scope, user, RULE, AT).allowed).toBe(false);
    }
  }
});

test('restarts its counts without rejecting requests if it reaches its maximum of users', () => {
  const take = createUserRateLimiter(10);
  for (let user = 0; user < 1_000; user += 1) expect(take('s', `u-${user}`, RULE, AT).allowed).toBe(true);
});
