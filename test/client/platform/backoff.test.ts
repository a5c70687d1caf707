import { expect, test } from 'vitest';
import { extendPause } from '../../../src/client/delivery/trouble/backoff.ts';
import { sharedFunctions } from '../../../src/client/delivery/trouble/shared-functions.ts';
import { endPauseEarly, isPaused, noPause, type Pause } from '../../../src/client/platform/pauses.ts';
import fc from '../../helpers/property.ts';

const NOW = 1_000_000;
const after = (before: Pause, cause: Parameters<typeof extendPause>[2], share = 1): Pause =>
  extendPause(sharedFunctions, before, cause, NOW, () => share);
/** Duration of the pause after the given number of failures. */
const backoffMs = (failures: number, share: number): number =>
  after({ ...noPause(), failures: failures - 1 }, { reason: 'backoff' }, share).until - NOW;

test('doubles the ceiling of a backoff up to five minutes', () => {
  const ceilings = [1, 2, 3, 8, 9, 50].map((failures) => backoffMs(failures, 1));
  expect(ceilings).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
});

test('jitters a backoff over nearly all of its ceiling, and never below a tenth', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, share) => {
        const ceiling = backoffMs(failures, 1);
        const wait = backoffMs(failures, share);
        expect(wait).toBeGreaterThanOrEqual(ceiling / 10 - 1);
        expect(wait).toBeLessThanOrEqual(ceiling);
      },
    ),
  );
});

test('applies a requested wait exactly for a rate limit, and as a minimum for a failure', () => {
  const often = { ...noPause(), failures: 5 };
  expect(after(often, { reason: 'rate-limit', requestedMs: 500 })).toEqual({
    until: NOW + 500,
    reason: 'rate-limit',
    failures: 6,
    isServerMandated: true,
  });
  expect(after(often, { reason: 'backoff', requestedMs: 500 }).until).toBe(NOW + 64_000);
  expect(after(often, { reason: 'backoff', requestedMs: 90_000 }).until).toBe(NOW + 90_000);
  expect(after(often, { reason: 'rate-limit', requestedMs: 0 }).until).toBe(NOW + 64_000);
});

test('counts parallel failures once, applies the longest pause, and keeps a fixed pause', () => {
  const limited = after(noPause(), { reason: 'rate-limit', requestedMs: 60_000 });
  const shorter = after(limited, { reason: 'backoff' });
  expect(shorter).toEqual(limited);
  const longer = after(limited, { reason: 'backoff', requestedMs: 90_000 });
  expect(longer).toMatchObject({ until: NOW + 90_000, failures: 1, isServerMandated: true });
  const backoff = after(noPause(), { reason: 'backoff' });
  expect(after(backoff, { reason: 'rate-limit', requestedMs: 100 })).toEqual({
    ...backoff,
    isServerMandated: true,
  });
});

test('counts a failure during a network change as the first one of the new network', () => {
  const often = { ...noPause(), failures: 9 };
  expect(after(often, { reason: 'backoff', isNewNetwork: true })).toMatchObject({
    until: NOW + 2_000,
    failures: 1,
  });
});

test('a success ends a backoff, but not a pause that the server requested', () => {
  const backoff = after(noPause(), { reason: 'backoff' });
  expect(isPaused(endPauseEarly(backoff, NOW), NOW)).toBe(false);
  expect(endPauseEarly(backoff, NOW)).toMatchObject({ failures: 1 });
  for (const reason of ['rate-limit', 'unauthorized', 'not-found'] as const) {
    const firm = after(noPause(), { reason });
    expect(endPauseEarly(firm, NOW)).toBe(firm);
  }
  const named = after(noPause(), { reason: 'backoff', requestedMs: 90_000 });
  expect(endPauseEarly(named, NOW)).toBe(named);
  const over = { ...backoff, until: NOW };
  expect(endPauseEarly(over, NOW)).toBe(over);
});

test('ends a pause that is too far in the future, because it was set under a wrong clock', () => {
  expect(isPaused({ ...noPause(), until: NOW + 60 * 60_000 }, NOW)).toBe(true);
  expect(isPaused({ ...noPause(), until: NOW + 60 * 60_000 + 1 }, NOW)).toBe(false);
});
