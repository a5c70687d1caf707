import { beforeEach, describe, expect, test } from 'vitest';
import type { Store, StoreKey } from '../../../src/client/platform/store.ts';

const getKeys = (records: [StoreKey, unknown][]) => records.map(([key]) => key);

/** Contract of every store; a host can run it on its own store, too. `makeStore` returns an empty store. */
export const storeContract = (name: string, makeStore: () => Store): void => {
  describe(`${name} as a store`, () => {
    let store: Store;
    beforeEach(() => {
      store = makeStore();
    });

    test('returns undefined for a missing key', async () => {
      expect(await store.get('nothing')).toBeUndefined();
      expect(await store.entries()).toEqual([]);
    });

    test('stores values and replaces them by key', async () => {
      await store.setMany([
        ['a', { one: 1 }],
        [
          ['b', 2],
          [1, 2, 3],
        ],
      ]);
      await store.setMany([['a', { one: 'changed' }]]);
      expect(await store.get('a')).toEqual({ one: 'changed' });
      expect(await store.get(['b', 2])).toEqual([1, 2, 3]);
    });

    test('sorts numbers before strings before arrays, and arrays element by element', async () => {
      const sorted: StoreKey[] = [
        1,
        2,
        10,
        'a',
        'b',
        [1],
        [1, 'a'],
        [2],
        [10, 0],
        ['a', 1],
        ['a', 1, 0],
        ['b'],
      ];
      const shuffled = [...sorted].sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);
      await store.setMany(shuffled.reverse().map((key) => [key, 'x']));
      expect(getKeys(await store.entries())).toEqual(sorted);
    });

    test('returns a range including both ends, up to the limit', async () => {
      await store.setMany([1, 2, 3, 4, 5].map((n) => [['event', n], n]));
      await store.setMany([[['fact', 1], 'other']]);
      expect(getKeys(await store.entries({ from: ['event', 2], to: ['event', 4] }))).toEqual([
        ['event', 2],
        ['event', 3],
        ['event', 4],
      ]);
      expect(getKeys(await store.entries({ from: ['event', 5], to: ['fact', 9] }))).toEqual([
        ['event', 5],
        ['fact', 1],
      ]);
      expect(getKeys(await store.entries({ from: ['event'], to: ['fact'], limit: 2 }))).toEqual([
        ['event', 1],
        ['event', 2],
      ]);
    });

    test('deletes many keys and ignores missing ones', async () => {
      await store.setMany([
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ]);
      await store.deleteMany(['a', 'nothing', 'c']);
      expect(await store.entries()).toEqual([['b', 2]]);
    });

    test('reads, writes and deletes in one update', async () => {
      await store.setMany([
        ['a', 1],
        ['b', 2],
      ]);
      await store.update<number>(['a', 'b', 'c'], (values) => {
        expect(values).toEqual([1, 2, undefined]);
        return [
          ['a', 10],
          ['b', undefined],
          [['new'], 30],
        ];
      });
      expect(await store.entries()).toEqual([
        ['a', 10],
        [['new'], 30],
      ]);
    });

    test('reads the values of a range in key order and updates them', async () => {
      await store.setMany([3, 1, 2, 4].map((n) => [['event', n], `value ${n}`]));
      await store.update<unknown>([{ from: ['event', 1], to: ['event', 3] }, ['event', 4]], (values) => {
        expect(values).toEqual([['value 1', 'value 2', 'value 3'], 'value 4']);
        return [];
      });
      await store.update<unknown>([{ from: ['fact'], to: ['fact', 9] }], (values) => {
        expect(values).toEqual([[]]);
        return [];
      });
    });

    test('updates without reading', async () => {
      await store.update([], () => [['a', 1]]);
      expect(await store.get('a')).toBe(1);
    });

    test('does not let two updates read the same value', async () => {
      await Promise.all(
        Array.from({ length: 50 }, () =>
          store.update<number>(['count'], ([count = 0]) => [['count', count + 1]]),
        ),
      );
      expect(await store.get('count')).toBe(50);
    });

    test('does not write if the change throws, and rejects with its error', async () => {
      await store.setMany([['a', 1]]);
      await expect(
        store.update(['a'], () => {
          throw new Error('the change is wrong');
        }),
      ).rejects.toThrow('the change is wrong');
      expect(await store.entries()).toEqual([['a', 1]]);
    });

    test('returns copies of its values', async () => {
      const value = { list: [1] };
      await store.setMany([['a', value]]);
      value.list.push(2);
      const read = await store.get<typeof value>('a');
      read!.list.push(3);
      expect(await store.get('a')).toEqual({ list: [1] });
    });

    test('is empty and usable after clear', async () => {
      await store.setMany([['a', 1]]);
      await store.clear();
      expect(await store.entries()).toEqual([]);
      await store.setMany([['b', 2]]);
      expect(await store.get('b')).toBe(2);
    });
  });
};
