import { expect, test } from 'vitest';
import { type Consent, createConsent } from '../../../src/client/consent/consent.ts';

const changesOf = (consent: Consent) => {
  const changes: string[] = [];
  consent.subscribe((before) => changes.push(`${before} → ${consent.state}`));
  return changes;
};

test('each change calls all that subscribe, in their order, with the state before it', () => {
  const consent = createConsent('pending');
  const order: string[] = [];
  consent.subscribe(() => order.push('first'));
  const changes = changesOf(consent);
  consent.subscribe(() => order.push('second'));
  consent.set('enabled');
  consent.optOut('send');
  consent.optOut('keep');
  consent.set('wiped');
  expect(changes).toEqual([
    'pending → enabled',
    'enabled → draining',
    'draining → disabled',
    'disabled → wiped',
  ]);
  expect(order).toEqual(['first', 'second', 'first', 'second', 'first', 'second', 'first', 'second']);
});

test('a choice that was made before is no change', () => {
  const consent = createConsent('disabled');
  const changes = changesOf(consent);
  consent.optOut('keep');
  consent.optOut('purge');
  expect(changes).toEqual([]);
});

test.each([
  ['enabled', true, true, true],
  ['pending', true, false, false],
  ['draining', false, false, true],
  ['disabled', false, false, false],
  ['wiped', false, false, false],
] as const)('%s: the client may act: %s, write to the device: %s, send: %s', (state, ...allowed) => {
  const consent = createConsent(state);
  expect([consent.mayAct(), consent.mayWrite(), consent.maySend()]).toEqual(allowed);
});
