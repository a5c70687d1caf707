import { expect, test } from 'vitest';
import { createConsent } from '../../../src/client/consent/consent.ts';

test('each change calls all that subscribe, in their order, with the state before it', () => {
  const consent = createConsent('pending', () => 7);
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
  expect(changes).toEqual([
    'pending → enabled',
    'enabled → draining',
    'draining → keeping',
    'keeping → disabled',
  ]);
  expect(order).toEqual(['first', 'second', 'first', 'second', 'first', 'second', 'first', 'second']);
});

test('an opt-out that is repeated is carried out again, and is over when what it makes the page do is', async () => {
  const consent = createConsent('disabled', () => 7);
  let deleted = 0;
  consent.subscribe(async () => {
    await Promise.resolve();
    deleted += 1;
  });
  await consent.decide('purge');
  await consent.decide('keep');
  expect(deleted).toBe(2);
});

test('its own decision has a time, and one of another tab none', () => {
  const consent = createConsent('enabled', () => 7);
  void consent.follow('disabled');
  expect(consent.record()).toEqual({ consent: 'disabled', chosenAt: 0 });
  void consent.decide('send');
  expect(consent.record()).toEqual({ consent: 'draining', chosenAt: 7 });
});

test.each([
  ['enabled', true, true, true, true],
  ['pending', true, false, true, false],
  ['draining', false, false, true, true],
  ['keeping', false, false, true, false],
  ['disabled', false, false, false, false],
  ['wiped', false, false, false, false],
] as const)(
  '%s: the client may act: %s, write to the device: %s, store what was captured before: %s, send: %s',
  (state, ...allowed) => {
    const consent = createConsent(state, () => 7);
    expect([consent.mayAct(), consent.mayWrite(), consent.mayFinish(), consent.maySend()]).toEqual(allowed);
  },
);

test.each([
  ['enabled', 'keeping', 'draining', 'disabled'],
  ['pending', 'disabled', 'disabled', 'disabled'],
  ['draining', 'keeping', 'draining', 'disabled'],
  ['keeping', 'keeping', 'draining', 'disabled'],
  ['disabled', 'disabled', 'draining', 'disabled'],
  ['wiped', 'disabled', 'draining', 'disabled'],
] as const)(
  'from %s an opt-out that keeps leads to %s, that sends to %s, that purges to %s',
  (before, ...after) => {
    for (const [i, policy] of (['keep', 'send', 'purge'] as const).entries()) {
      const consent = createConsent(before, () => 7);
      void consent.decide(policy);
      expect(consent.is(after[i]!)).toBe(true);
    }
  },
);
