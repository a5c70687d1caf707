import { describe, expect, it } from 'vitest';
import {
  assertConserved,
  assertDeliveredExactlyOnce,
  assertDeliveredInOrder,
} from '../../src/testing/index.ts';

const event = (bannerId: string, time: number, userId = 'u') => ({
  userId,
  bannerId,
  time,
  type: 'click' as const,
});

describe('assertDeliveredExactlyOnce', () => {
  it('accepts each captured event stored once, in any order', () => {
    assertDeliveredExactlyOnce([event('b', 2), event('a', 1)], [event('a', 1), event('b', 2)]);
  });

  it('reports lost, duplicated and unknown events', () => {
    const stored = [event('a', 1), event('a', 1), event('c', 3)];
    const check = () => assertDeliveredExactlyOnce(stored, [event('a', 1), event('b', 2)]);
    expect(check).toThrow('lost (1): click of b by u at 1970-01-01T00:00:00.002Z');
    expect(check).toThrow('stored more than once (2): click of a');
    expect(check).toThrow('never captured (1): click of c');
  });

  it('distinguishes users, types and instants', () => {
    expect(() => assertDeliveredExactlyOnce([event('a', 1, 'v')], [event('a', 1, 'u')])).toThrow('lost');
    expect(() => assertDeliveredExactlyOnce([event('a', 2)], [event('a', 1)])).toThrow('lost');
    expect(() =>
      assertDeliveredExactlyOnce([{ ...event('a', 1), type: 'dismiss' }], [event('a', 1)]),
    ).toThrow('lost');
  });

  it('rejects two captured events with the same key', () => {
    expect(() => assertDeliveredExactlyOnce([event('a', 1)], [event('a', 1), event('a', 1)])).toThrow(
      'captured twice',
    );
  });
});

describe('assertDeliveredInOrder', () => {
  it('requires each user’s events in chronological order', () => {
    assertDeliveredInOrder([event('a', 1), event('z', 0, 'v'), event('b', 2)]);
    expect(() => assertDeliveredInOrder([event('b', 2), event('a', 1)])).toThrow('before click of a');
  });
});

describe('assertConserved', () => {
  const diagnostics = {
    captured: 8,
    delivered: 1,
    pending: 1,
    inDoubt: 1,
    deadLetters: 1,
    discarded: 1,
    evicted: 1,
    expired: 1,
    purged: 1,
    memoryMode: false,
    isLeader: true,
    pausedUntil: null,
  };

  it('requires the parts to add up to the captured events', () => {
    assertConserved(diagnostics);
    expect(() => assertConserved({ ...diagnostics, pending: 2 })).toThrow('captured 8, but the sum is 9');
  });
});
