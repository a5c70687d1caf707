import { describe, expect, test } from 'vitest';
import { memoize } from '../../src/service/memoize.ts';

/** Returns a memoized function for up to `size` keys, and the keys that it computed. */
const aMemoized = (size: number) => {
  const computed: string[] = [];
  const compute = memoize((key: string) => {
    computed.push(key);
    return key === 'none' ? null : key === 'x';
  }, size);
  return { compute, computed };
};

describe('a memoized function', () => {
  test('computes a result once, including false', () => {
    const { compute, computed } = aMemoized(2);
    expect(['x', 'y', 'x', 'y'].map(compute)).toEqual([true, false, true, false]);
    expect(computed).toEqual(['x', 'y']);
  });

  test('computes null again, and null evicts nothing', () => {
    const { compute, computed } = aMemoized(1);
    expect(['x', 'none', 'none', 'none', 'x'].map(compute)).toEqual([true, null, null, null, true]);
    expect(computed).toEqual(['x', 'none', 'none', 'none']);
  });

  test('keeps keys in use when full, and evicts others', () => {
    const { compute, computed } = aMemoized(2);
    for (const key of ['a', 'b', 'c', 'a', 'd', 'a']) compute(key);
    expect(computed).toEqual(['a', 'b', 'c', 'd']);
    compute('b');
    expect(computed).toEqual(['a', 'b', 'c', 'd', 'b']);
  });
});
