import { expect, test } from 'vitest';
import { type Batch, batchState, isInSending, VERSION } from '../../../../src/client/delivery/log/records.ts';

const NOW = 1_790_208_000_000;
const batch = (changes: Partial<Batch>): Batch => ({
  v: VERSION,
  id: 'b1',
  userId: 'u1',
  keys: [['event', VERSION, NOW, 'tab', 1]],
  until: 0,
  doubt: false,
  splits: 0,
  ...changes,
});

test.each([
  ['was never sent', batch({}), 'ready'],
  ['waits for its answer', batch({ until: NOW + 1 }), 'sending'],
  ['waits for the answer to another sending', batch({ until: NOW + 1, doubt: true }), 'sending'],
  ['was left without an answer', batch({ until: NOW }), 'abandoned'],
  ['is known to be in doubt', batch({ doubt: true }), 'ready'],
  ['was left without an answer once more', batch({ until: NOW - 1, doubt: true }), 'ready'],
  ['names a time of before the clock was set back', batch({ until: NOW + 86_400_000 }), 'abandoned'],
])('a batch that %s', (_, stored, state) => {
  expect(batchState(stored, NOW)).toBe(state);
});

test('a batch is in its sending until another one begins or its outcome is known', () => {
  const leased = batch({ until: NOW + 35_000 });
  expect(isInSending({ ...leased }, leased)).toBe(true);
  expect(isInSending({ ...leased, until: NOW + 40_000 }, leased)).toBe(false);
  expect(isInSending({ ...leased, until: 0 }, leased)).toBe(false);
  expect(isInSending(undefined, leased)).toBe(false);
});
