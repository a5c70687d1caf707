import { describe, expect, it } from 'vitest';
import { createFaultyStore, createMemoryDisk } from '../../src/testing/index.ts';

const arrange = () => {
  const disk = createMemoryDisk();
  return { disk, store: createFaultyStore(disk.openStore('s')) };
};

describe('the faulty store', () => {
  it('works like the wrapped store without faults', async () => {
    const { disk, store } = arrange();
    await store.setMany([
      ['a', 1],
      ['b', 2],
    ]);
    await store.update<number>(['a'], ([a]) => [['a', a! + 1]]);
    await store.deleteMany(['b']);
    expect([await store.get('a'), await store.entries()]).toEqual([2, [['a', 2]]]);
    await store.clear();
    expect(disk.records('s')).toEqual([]);
    expect(store.calls).toEqual(['setMany', 'update', 'deleteMany', 'get', 'entries', 'clear']);
  });

  it('rejects with a database error without a change', async () => {
    const { disk, store } = arrange();
    store.fail({ type: 'reject', error: 'QuotaExceededError' });
    const write = store.setMany([['a', 1]]);
    await expect(write).rejects.toBeInstanceOf(DOMException);
    await expect(write).rejects.toMatchObject({ name: 'QuotaExceededError' });
    expect(disk.records('s')).toEqual([]);
    await store.setMany([['a', 1]]);
    expect(disk.records('s')).toEqual([['a', 1]]);
  });

  it('loses the response of a completed call', async () => {
    const { disk, store } = arrange();
    store.fail({ type: 'lose-answer' });
    await expect(store.setMany([['a', 1]])).rejects.toThrow();
    expect(disk.records('s')).toEqual([['a', 1]]);
  });

  it('pauses a call until the test continues it', async () => {
    const { disk, store } = arrange();
    const { promise: until, resolve: go } = Promise.withResolvers<void>();
    store.fail({ type: 'wait', until });
    const write = store.setMany([['a', 1]]);
    expect(disk.records('s')).toEqual([]);
    go();
    await write;
    expect(disk.records('s')).toEqual([['a', 1]]);
  });

  it('never resolves a method that hangs', async () => {
    const { store } = arrange();
    store.fail({ type: 'hang' });
    const outcome = await Promise.race([
      store.entries(),
      new Promise((resolve) => setImmediate(resolve, 'still waiting')),
    ]);
    expect(outcome).toBe('still waiting');
  });

  it('affects only the chosen methods, a given number of times', async () => {
    const { store } = arrange();
    const lift = store.fail({ type: 'reject', error: 'AbortError' }, { verbs: ['get'], times: 2 });
    await store.setMany([['a', 1]]);
    await expect(store.get('a')).rejects.toThrow();
    lift();
    expect(await store.get('a')).toBe(1);
    store.fail({ type: 'reject', error: 'AbortError' }, { times: Number.POSITIVE_INFINITY });
    await expect(store.get('a')).rejects.toThrow();
    store.recover();
    expect(await store.get('a')).toBe(1);
  });
});
