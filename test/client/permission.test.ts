import { expect, test } from 'vitest';
import { createPermission, type State } from '../../src/client/permission.ts';

/** Returns the permission of a running page, 7 ms after the epoch. */
const aPermission = (initial: State) =>
  createPermission(
    initial,
    () => 7,
    () => false,
  );

test('calls all subscribers on each change, in order, with the previous state', () => {
  const consent = aPermission('pending');
  const order: string[] = [];
  const changes: string[] = [];
  consent.subscribe(() => order.push('first'));
  consent.subscribe(
    (before) => order.push('second') && changes.push(`${before} → ${consent.record().consent}`),
  );
  void consent.decide('enable');
  void consent.decide('enable');
  void consent.decide('send');
  void consent.decide('keep');
  void consent.decide('wipe');
  expect(changes).toEqual(['pending → enabled', 'enabled → send', 'send → keep', 'keep → disabled']);
  expect(order).toEqual(['first', 'second', 'first', 'second', 'first', 'second', 'first', 'second']);
});

test('runs a repeated opt-out again and settles after its subscribers', async () => {
  const consent = aPermission('disabled');
  let deleted = 0;
  consent.subscribe(async () => {
    await Promise.resolve();
    deleted += 1;
  });
  await consent.decide('purge');
  await consent.decide('keep');
  expect(deleted).toBe(2);
});

test('applies the later of two choices, in any order of arrival', async () => {
  const consent = aPermission('pending');
  await consent.merge({ consent: 'disabled', decidedAt: 9 });
  await consent.merge({ consent: 'enabled', decidedAt: 8 });
  expect(consent.record()).toEqual({ consent: 'disabled', decidedAt: 9 });
  await consent.merge({ consent: 'enabled', decidedAt: 10 });
  expect(consent.record()).toEqual({ consent: 'enabled', decidedAt: 10 });
});

test('prefers an opt-out to an opt-in of the same millisecond, in any order of arrival', async () => {
  const consent = aPermission('pending');
  await consent.merge({ consent: 'enabled', decidedAt: 9 });
  await consent.merge({ consent: 'disabled', decidedAt: 9 });
  await consent.merge({ consent: 'enabled', decidedAt: 9 });
  expect(consent.record()).toEqual({ consent: 'disabled', decidedAt: 9 });
});

test('an opt-out of an earlier visit overrides the host, and an opt-in does not', async () => {
  const host = aPermission('disabled');
  await host.merge({ consent: 'enabled', decidedAt: 6 });
  expect(host.is('disabled')).toBe(true);
  const other = aPermission('enabled');
  await other.merge({ consent: 'keep', decidedAt: 6 });
  expect(other.is('keep')).toBe(true);
});

test('dates a new choice after all known ones, even under a wrong clock', async () => {
  let now = 1_000;
  const consent = createPermission(
    'enabled',
    () => now,
    () => false,
  );
  await consent.merge({ consent: 'disabled', decidedAt: 2_000 });
  now = 500;
  void consent.decide('enable');
  expect(consent.record()).toEqual({ consent: 'enabled', decidedAt: 2_001 });
});

test('a wrong clock does not discard an opt-out and does not preserve an opt-in for long', () => {
  const MINUTE_MS = 60_000;
  const { isSuperseded } = createPermission(
    'enabled',
    () => MINUTE_MS,
    () => false,
  );
  const optIn = { consent: 'enabled' as const, decidedAt: MINUTE_MS };
  const optOut = { consent: 'disabled' as const, decidedAt: MINUTE_MS };
  expect(isSuperseded(optOut, { ...optIn, decidedAt: 2 * MINUTE_MS })).toBe(false);
  expect(isSuperseded(optIn, { ...optOut, decidedAt: 2 * MINUTE_MS })).toBe(true);
  expect(isSuperseded(optIn, { ...optOut, decidedAt: 20 * MINUTE_MS })).toBe(false);
});

test('lets only the host of the page enable it again after a wipe', async () => {
  const consent = aPermission('enabled');
  await consent.merge({ consent: 'wiped', decidedAt: 8 });
  await consent.merge({ consent: 'enabled', decidedAt: 9 });
  expect(consent.is('wiped')).toBe(true);
  void consent.decide('enable');
  expect(consent.is('enabled')).toBe(true);
});

test.each([
  ['enabled', true, true, true, true],
  ['pending', true, false, true, false],
  ['send', false, false, true, true],
  ['keep', false, false, true, false],
  ['disabled', false, false, false, false],
  ['wiped', false, false, false, false],
] as const)(
  '%s: active: %s, writes to the device: %s, stores pending captures: %s, sends: %s',
  (state, ...allowed) => {
    const consent = aPermission(state);
    expect([consent.mayAct(), consent.mayWrite(), consent.mayStorePending(), consent.maySend()]).toEqual(
      allowed,
    );
  },
);

test.each([
  ['enabled', 'keep', 'send', 'disabled'],
  ['pending', 'disabled', 'disabled', 'disabled'],
  ['send', 'keep', 'send', 'disabled'],
  ['keep', 'keep', 'send', 'disabled'],
  ['disabled', 'disabled', 'send', 'disabled'],
  ['wiped', 'disabled', 'send', 'disabled'],
] as const)('from %s, keep leads to %s, send to %s, purge to %s', (before, ...after) => {
  for (const [i, policy] of (['keep', 'send', 'purge'] as const).entries()) {
    const consent = aPermission(before);
    void consent.decide(policy);
    expect(consent.is(after[i]!)).toBe(true);
  }
});
