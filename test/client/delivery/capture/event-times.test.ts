import { describe, expect, test } from 'vitest';
import { createEventTimes } from '../../../../src/client/delivery/capture.ts';
import { createVirtualClock } from '../../../../src/testing/index.ts';
import fc from '../../../helpers/property.ts';

const DAY_MS = 24 * 60 * 60_000;
const START = 1_000_000;

const aPage = () => {
  const clock = createVirtualClock(START);
  const getTime = createEventTimes(clock);
  return { clock, now: (key = 'a') => getTime(clock.now(), key), getTime };
};

describe('event times', () => {
  test('are unique per natural key and keep the order of the calls', () => {
    const calls = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom('a', 'b', 'c')), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(calls, (ages) => {
        const { getTime } = aPage();
        const given = ages.map(([age, key]) => ({ key, at: START - age, time: getTime(START - age, key) }));
        expect(new Set(given.map(({ key, time }) => `${key} ${time}`)).size).toBe(ages.length);
        for (const [i, { at, time }] of given.entries()) {
          expect(time).toBeGreaterThanOrEqual(at);
          if (i > 0) expect(time).toBeGreaterThanOrEqual(given[i - 1]!.time);
        }
      }),
    );
  });

  test('are correct after the clock was days ahead for a while', async () => {
    const { clock, now } = aPage();
    now();
    clock.jump(2 * DAY_MS);
    for (const key of ['a', 'b', 'a']) now(key);
    clock.jump(-2 * DAY_MS);
    await clock.advance(1_000);
    expect(['a', 'b', 'a'].map((key) => now(key) - START)).toEqual([1_000, 1_000, 1_001]);
  });

  test('are correct if the clock was hours ahead from the start', async () => {
    const clock = createVirtualClock(START + DAY_MS);
    const getTime = createEventTimes(clock);
    getTime(clock.now(), 'a');
    clock.jump(-DAY_MS);
    expect(getTime(clock.now(), 'a')).toBe(START);
  });

  test('follow the device back when it corrects a jump, and continue from the earlier time', () => {
    const { clock, now } = aPage();
    clock.jump(2 * DAY_MS);
    expect(now()).toBe(START + 2 * DAY_MS);
    clock.jump(-2 * DAY_MS);
    expect(now()).toBe(START);
    clock.jump(-500_000);
    expect(now('b')).toBe(START);
  });

  test('follow the device forward after sleep, but not backward', () => {
    const { clock, now } = aPage();
    expect(now()).toBe(START);
    clock.jump(-500_000);
    expect(now('b')).toBe(START);
    clock.jump(500_000 + 8 * 60 * 60_000);
    expect(now()).toBe(START + 8 * 60 * 60_000);
  });

  test('keep a given age, and replace a future time with the current time', () => {
    const { clock, getTime } = aPage();
    expect(getTime(clock.now() - 400, 'a')).toBe(START - 400);
    expect(getTime(clock.now() + 5_000, 'b')).toBe(START);
  });
});
