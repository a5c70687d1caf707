// @vitest-environment node
import 'fake-indexeddb/auto';
import { describe, expect, test, vi } from 'vitest';
import { createLogCache } from '../../../src/client/delivery/log/log.ts';
import { createDisk, createLogStore } from '../../../src/client/delivery/log/log-store.ts';
import { LOG_STATE_KEY } from '../../../src/client/delivery/log/records.ts';
import { createRestore } from '../../../src/client/delivery/trouble/memory-restore.ts';
import { sharedFunctions } from '../../../src/client/delivery/trouble/shared-functions.ts';
import type { Notify } from '../../../src/client/notices.ts';
import { createPermission } from '../../../src/client/permission.ts';
import type { Clock } from '../../../src/client/platform/clock.ts';
import { createIdbStore } from '../../../src/client/platform/idb-store.ts';
import { type PageLifecycle, withLifecycle } from '../../../src/client/platform/page.ts';
import {
  createMemoryStore,
  type KeyRange,
  type Store,
  type StoreKey,
} from '../../../src/client/platform/store.ts';
import { createFaultyStore, createMemoryDisk, createVirtualClock } from '../../../src/testing/index.ts';
import { createFakeLifecycle } from '../delivery/world.ts';
import { storeContract } from './store-contract.ts';

let databases = 0;
const nextName = () => {
  databases += 1;
  return `database-${databases}`;
};

const withFallback = (primary: Store, clock: Clock, onMode: (memory: boolean) => void = () => undefined) => {
  const { lifecycle } = createFakeLifecycle();
  const channel = { post: () => undefined, subscribe: () => () => undefined, close: () => undefined };
  const permission = withLifecycle(
    createPermission('enabled', Date.now, () => false),
    lifecycle,
  );
  const notify: Notify = (notice) => notice.type === 'memory-mode' && onMode(notice.on);
  const trouble = async () => ({ restore: createRestore(sharedFunctions, permission) });
  const context = { permission, clock, lifecycle, channel, notify, trouble };
  const log = createLogStore(context, primary, createLogCache(context));
  const get = async <T>(key: StoreKey) => (await log.entries<T>({ from: key, to: key }))[0]?.[1];
  return { ...log, get };
};

/** Records on disk besides the log state. */
const getRecords = async (disk: Store) =>
  (await disk.entries()).filter(([key]) => String(key) !== String(LOG_STATE_KEY));

/** A store whose operations all go through `createDisk`. */
const createGatedStore = (store: Store, lifecycle: PageLifecycle, after: Clock['after']) => {
  const { request, close } = createDisk(store, lifecycle, after);
  return {
    entries: <T>(range?: KeyRange) => request((disk) => disk.entries<T>(range)),
    get: <T>(key: StoreKey) => request((disk) => disk.get<T>(key)),
    setMany: (records: [StoreKey, unknown][]) =>
      request<void>(
        (disk) => disk.setMany(records),
        () => undefined,
      ),
    deleteMany: (keys: StoreKey[]) => request((disk) => disk.deleteMany(keys)),
    update: <T>(keys: StoreKey[], change: Parameters<typeof store.update<T>>[1]) =>
      request((disk) => disk.update<T>(keys, change)),
    clear: () => request((disk) => disk.clear()),
    close,
  };
};

storeContract('memory', createMemoryStore);
storeContract('IndexedDB', () => createIdbStore(nextName()));
storeContract('the disk of the test kit', () => createMemoryDisk().openStore('any'));
storeContract('the log store', () => withFallback(createMemoryStore(), createVirtualClock()));
storeContract('the disk behind the gate of the back/forward cache', () =>
  createGatedStore(createMemoryStore(), createFakeLifecycle().lifecycle, createVirtualClock().after),
);

describe('IndexedDB store', () => {
  test('shares its records with every other store of the same name', async () => {
    const name = nextName();
    await createIdbStore(name).setMany([['a', 1]]);
    expect(await createIdbStore(name).get('a')).toBe(1);
  });

  test('case 42: reopens a closed connection and retries failed requests', async () => {
    const name = nextName();
    const store = createIdbStore(name);
    await store.setMany([['a', 1]]);
    const { transaction } = IDBDatabase.prototype;
    let fails = 1;
    IDBDatabase.prototype.transaction = function (...parameters) {
      fails -= 1;
      if (fails >= 0) this.close();
      return transaction.apply(this, parameters);
    };
    try {
      await store.update<number>(['a'], ([value = 0]) => [['a', value + 1]]);
      expect(await store.get('a')).toBe(2);
      fails = 2;
      await expect(store.get('a')).rejects.toThrow();
    } finally {
      IDBDatabase.prototype.transaction = transaction;
    }
    expect(await store.get('a')).toBe(2);
  });

  test('case 42: retries the read of a range after an aborted transaction, without an unhandled rejection', async () => {
    const store = createIdbStore(nextName());
    await store.setMany([['a', 1]]);
    const { getAll } = IDBObjectStore.prototype;
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    IDBObjectStore.prototype.getAll = function (...parameters) {
      IDBObjectStore.prototype.getAll = getAll;
      const request = getAll.apply(this, parameters);
      this.transaction.abort();
      return request;
    };
    try {
      expect(await store.entries()).toEqual([['a', 1]]);
      // Node reports an unhandled rejection after the microtasks of the turn.
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      IDBObjectStore.prototype.getAll = getAll;
      process.off('unhandledRejection', unhandled);
    }
  });

  test('case 44: closes its connection when another tab deletes or upgrades the database, and reopens it', async () => {
    const name = nextName();
    const store = createIdbStore(name);
    await store.setMany([['a', 1]]);
    const outcome = await new Promise((resolve) => {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = () => resolve('deleted');
      request.onblocked = () => resolve('blocked');
    });
    expect(outcome).toBe('deleted');
    expect(await store.get('a')).toBeUndefined();
    await store.setMany([['b', 2]]);
    expect(await store.get('b')).toBe(2);
  });
});

describe('log store', () => {
  const setUp = () => {
    const clock = createVirtualClock();
    const disk = createMemoryStore();
    const primary = createFaultyStore(disk);
    const modes: boolean[] = [];
    const store = withFallback(primary, clock, (memory) => modes.push(memory));
    return { clock, disk, primary, modes, store };
  };

  test('case 41: waits two seconds for a store that does not open, then continues in memory', async () => {
    const { clock, primary, modes, store } = setUp();
    primary.fail({ type: 'hang' });
    const written = store.setMany([['a', 1]]);
    await clock.advance(1_999);
    expect(modes).toEqual([]);
    await clock.advance(1);
    await written;
    expect(modes).toEqual([true]);
    expect(await store.get('a')).toBe(1);
    expect(store.isMemory()).toBe(true);
    store.close();
    // A disk operation times out on time, and not before: a click may wait for it.
    await clock.advance(10_000);
    expect(clock.pending()).toBe(0);
  });

  test('case 41: does not treat the time that a page is suspended as a store that hangs', async () => {
    const { clock, primary, modes } = setUp();
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    primary.fail({ type: 'wait', until: opened });
    // The timer and the response are both due when the page resumes, and the timer comes first.
    const after: typeof clock.after = (ms, callback) =>
      clock.after(ms, () => {
        callback();
        open();
      });
    const store = withFallback(primary, { ...clock, after }, (memory) => modes.push(memory));
    const written = store.setMany([['a', 1]]);
    await clock.advance(10_000);
    await written;
    expect(modes).toEqual([]);
    expect(store.isMemory()).toBe(false);
    store.close();
    expect(clock.pending()).toBe(0);
  });

  test('moves its memory to the store when the store opens late', async () => {
    const { clock, disk, primary, modes, store } = setUp();
    let open: () => void = () => undefined;
    primary.fail({
      type: 'wait',
      until: new Promise<void>((resolve) => {
        open = resolve;
      }),
    });
    const written = store.setMany([['a', 1]]);
    await clock.advance(2_000);
    await written;
    open();
    await clock.advance(0);
    expect(modes).toEqual([true, false]);
    expect(await getRecords(disk)).toEqual([['a', 1]]);
  });

  test('retries failed writes in memory, and the store every 30 seconds', async () => {
    const { clock, disk, primary, modes, store } = setUp();
    await store.setMany([['a', 1]]);
    const lift = primary.fail({ type: 'reject', error: 'UnknownError' }, { times: 3 });
    await store.setMany([['b', 2]]);
    expect(await store.get('b')).toBe(2);
    expect(modes).toEqual([true]);
    await clock.advance(60_000);
    expect(modes).toEqual([true]);
    await clock.advance(30_000);
    expect(modes).toEqual([true, false]);
    expect(await getRecords(disk)).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    lift();
  });

  test('keeps writes that fail while the memory moves back to the store, with newer writes', async () => {
    const { clock, disk, primary, store } = setUp();
    await store.get('a');
    const { promise: lost, reject: lose } = Promise.withResolvers<void>();
    primary.fail({ type: 'wait', until: lost }, { verbs: ['setMany'] });
    const slow = store.setMany([['slow', 1]]);
    primary.fail({ type: 'reject', error: 'UnknownError' }, { verbs: ['setMany'] });
    await store.setMany([['memory', 2]]);
    const { promise: moved, resolve: move } = Promise.withResolvers<void>();
    primary.fail({ type: 'wait', until: moved }, { verbs: ['update'] });
    store.retry();
    await clock.advance(0);
    const meanwhile = store.setMany([['meanwhile', 3]]);
    lose(new DOMException('lost', 'UnknownError'));
    await clock.advance(0);
    move();
    await Promise.all([slow, meanwhile]);
    await clock.advance(60_000);
    expect(store.isMemory()).toBe(false);
    expect(await getRecords(disk)).toEqual([
      ['meanwhile', 3],
      ['memory', 2],
      ['slow', 1],
    ]);
  });

  test('rejects with the error of a full disk', async () => {
    const { primary, modes, store } = setUp();
    await store.get('a');
    primary.fail({ type: 'reject', error: 'QuotaExceededError' });
    await expect(store.setMany([['a', 1]])).rejects.toMatchObject({ name: 'QuotaExceededError' });
    expect(modes).toEqual([]);
    store.switchToMemory(new Error('full'));
    await store.setMany([['a', 1]]);
    expect(modes).toEqual([true]);
  });

  test('applies a decision of memory mode to the real store as soon as it responds', async () => {
    const { clock, disk, primary, store } = setUp();
    await disk.setMany([['old', 1]]);
    primary.fail({ type: 'reject', error: 'UnknownError' }, { times: Number.POSITIVE_INFINITY });
    await store.setMany([['new', 1]]);
    await store.clear((log) => log.clear());
    primary.recover();
    await clock.advance(60_000);
    expect(await getRecords(disk)).toEqual([]);
  });
});

describe('back/forward cache gate', () => {
  test('case 49: does not start requests while the page is cached, and continues when it is restored', async () => {
    const page = createFakeLifecycle();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, createVirtualClock().after);
    page.tell('pagehide');
    const updated = store.update<number>(['a'], ([value = 0]) => [['a', value + 1]]);
    const read = store.get('b');
    await store.setMany([['b', 2]]);
    expect(inner.calls).toEqual(['setMany']);
    page.tell('restored');
    await updated;
    expect(await read).toBe(2);
    expect(await store.get('a')).toBe(1);
    store.close();
    expect(page.listeners()).toBe(0);
  });

  test('rejects pending requests if the client stops on page exit', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    page.tell('pagehide');
    store.close();
    inner.fail({ type: 'hang' });
    let error: unknown;
    void store.get('a').catch((cause) => {
      error = cause;
    });
    await clock.advance(60_000);
    expect(error).toEqual(new Error('Timed out'));
  });

  test('after the restore, retries a read that the browser never settles, and writes once', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    // As in Firefox for requests made while the page went into the bfcache.
    for (let i = 0; i < 3; i += 1) inner.fail({ type: 'hang' });
    const read = store.get('a');
    const updated = store.update<number>(['a'], ([value = 0]) => [['a', value + 1]]);
    page.tell('pagehide');
    const written = store.setMany([['b', 2]]);
    page.tell('restored');
    await clock.advance(1_000);
    await Promise.all([updated, written]);
    expect(await read).toBe(undefined);
    expect(inner.calls).toEqual(['get', 'update', 'setMany', 'get', 'update']);
    expect(await store.get('a')).toBe(1);
  });

  test('retries a write that fails after it was assumed done', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const memory = createMemoryStore();
    const inner = createFaultyStore(memory);
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    const { promise: lost, reject: lose } = Promise.withResolvers<void>();
    inner.fail({ type: 'wait', until: lost });
    page.tell('pagehide');
    const written = store.setMany([['a', 1]]);
    page.tell('restored');
    await clock.advance(1_000);
    await written;
    lose(new DOMException('lost', 'AbortError'));
    await clock.advance(0);
    expect(await memory.get('a')).toBe(1);
  });

  test('retries pending reads at the second restore', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    inner.fail({ type: 'hang' }, { times: 2 });
    const updated = store.update<number>(['a'], ([value = 0]) => [['a', value + 1]]);
    for (let visits = 0; visits < 2; visits += 1) {
      page.tell('pagehide');
      page.tell('restored');
      await clock.advance(1_000);
    }
    await updated;
    expect(await store.get('a')).toBe(1);
  });

  test('does not retry requests that settle in time after the restore', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    page.tell('pagehide');
    const updated = store.update<number>(['a'], ([value = 0]) => [['a', value + 1]]);
    page.tell('restored');
    await updated;
    await clock.advance(60_000);
    expect(inner.calls).toEqual(['update']);
  });

  test('rejects a request that does not settle within ten seconds in a visible page, without a retry', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    inner.fail({ type: 'hang' }, { times: 2 });
    const failed = Promise.allSettled([store.setMany([['a', 1]]), store.get('a')]);
    await clock.advance(10_000);
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    page.tell('pagehide');
    page.tell('restored');
    await clock.advance(60_000);
    expect(inner.calls).toEqual(['setMany', 'get']);
    expect(clock.pending()).toBe(0);
  });

  test('does not time out requests of a cached page', async () => {
    const page = createFakeLifecycle();
    const clock = createVirtualClock();
    const inner = createFaultyStore(createMemoryStore());
    const store = createGatedStore(inner, page.lifecycle, clock.after);
    inner.fail({ type: 'hang' });
    const written = store.setMany([['a', 1]]);
    page.tell('pagehide');
    const read = store.get('b');
    await clock.advance(60_000);
    page.tell('restored');
    await clock.advance(1_000);
    expect(await Promise.all([written, read])).toEqual([undefined, undefined]);
  });
});
