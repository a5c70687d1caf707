import { indexedDB } from 'fake-indexeddb';
import { describe, expect, it } from 'vitest';
import { createMemoryDisk } from '../../src/testing/index.ts';
import fc from '../helpers/property.ts';

describe('the memory disk', () => {
  it('keeps records of each store across pages', async () => {
    const disk = createMemoryDisk();
    await disk.openStore('one').setMany([[[1, 1], 'a']]);
    expect(await disk.openStore('one').get([1, 1])).toBe('a');
    expect(await disk.openStore('two').get([1, 1])).toBeUndefined();
    disk.erase();
    expect(disk.records('one')).toEqual([]);
  });

  it('sorts keys as IndexedDB does', async () => {
    const key = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(key), async (keys) => {
        const disk = createMemoryDisk();
        await disk.openStore('s').setMany(keys.map((each) => [each, true]));
        const sorted = (await disk.openStore('s').entries()).map(([each]) => each);
        for (let at = 1; at < sorted.length; at += 1) {
          expect(indexedDB.cmp(sorted[at - 1], sorted[at])).toBe(-1);
        }
      }),
    );
  });

  it('returns a range with both ends, lowest first, up to its limit', async () => {
    const store = createMemoryDisk().openStore('s');
    await store.setMany([5, 3, 1, 4, 2].map((key) => [key, key]));
    const keys = async (range: Parameters<typeof store.entries>[0]) =>
      (await store.entries(range)).map(([key]) => key);
    expect(await keys({ from: 2, to: 4 })).toEqual([2, 3, 4]);
    expect(await keys({ from: 2, to: 9, limit: 2 })).toEqual([2, 3]);
    expect(await keys(undefined)).toEqual([1, 2, 3, 4, 5]);
  });

  it('reads and writes atomically, deletes undefined values, and does not write if the change throws', async () => {
    const disk = createMemoryDisk();
    const store = disk.openStore('s');
    await store.setMany([
      ['a', 1],
      ['b', 2],
    ]);
    await store.update<number>(['a', 'b'], ([a, b]) => [
      ['a', undefined],
      ['c', a! + b!],
    ]);
    expect(disk.records('s')).toEqual([
      ['b', 2],
      ['c', 3],
    ]);
    const broken = store.update(['b'], () => {
      throw new Error('no');
    });
    await expect(broken).rejects.toThrow('no');
    await store.deleteMany(['b']);
    expect(disk.records('s')).toEqual([['c', 3]]);
    await store.clear();
    expect(disk.records('s')).toEqual([]);
  });

  it('returns copies, so that callers cannot change stored data', async () => {
    const disk = createMemoryDisk();
    const value = { list: [1] };
    await disk.openStore('s').setMany([['k', value]]);
    value.list.push(2);
    (await disk.openStore('s').get<typeof value>('k'))!.list.push(3);
    expect(disk.records('s')).toEqual([['k', { list: [1] }]]);
  });

  it('ignores calls of a killed page, and never resolves them', async () => {
    const disk = createMemoryDisk();
    const page = disk.session();
    const store = page.openStore('s');
    let settled = 0;
    const count = () => settled++;
    const begun = store.setMany([['before', 1]]);
    page.kill();
    begun.then(count, count);
    store.setMany([['after', 1]]).then(count, count);
    store.entries().then(count, count);
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toBe(0);
    expect(disk.records('s')).toEqual([['before', 1]]);
    expect(await disk.session().openStore('s').get('before')).toBe(1);
  });
});
