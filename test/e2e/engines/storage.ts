import { expect } from 'vitest';
import type { BannerEvent } from '../../../src/client/index.ts';
import {
  assertDeliveredExactlyOnce,
  assertDeliveredInOrder,
  buildBanner,
} from '../../../src/testing/index.ts';
import { until } from '../../helpers/engines.ts';
import { heard, NO_TITLE, oneSecondSeen, type Scenario, settle, TITLE } from './scenario.ts';
import { shop } from './shop.ts';

/** Script that runs before the page, or the page's headers. */
const BLOCKED: Record<string, { before?: string; headers?: Record<string, string> }> = {
  'is absent': { before: `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })` },
  'is denied': {
    before: `Object.defineProperty(globalThis, 'indexedDB', {
      get() { throw new DOMException('denied', 'SecurityError'); } });
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(globalThis, name, {
        get() { throw new DOMException('denied', 'SecurityError'); } });`,
  },
  // Also denied: the other storages and, in Chromium, access to `navigator.serviceWorker`.
  'is denied to a sandboxed page': { headers: { 'content-security-policy': 'sandbox allow-scripts' } },
  'rejects every database, as in some private windows': {
    before: `IDBFactory.prototype.open = () => {
      const request = new EventTarget();
      request.error = new DOMException('A mutation operation was attempted', 'InvalidStateError');
      queueMicrotask(() => request.onerror?.(new Event('error')));
      return request;
    }`,
  },
  'never responds': { before: 'IDBFactory.prototype.open = () => new EventTarget()' },
};

/** Everything that the client has stored, in all databases and localStorage. */
export const STORED = `
  let records = Object.keys(localStorage).filter((key) => key.startsWith('placard')).length;
  for (const { name } of await indexedDB.databases()) {
    const db = await new Promise((resolve, reject) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    for (const store of db.objectStoreNames) {
      records += await new Promise((resolve) => {
        const request = db.transaction(store).objectStore(store).count();
        request.onsuccess = () => resolve(request.result);
      });
    }
    db.close();
  }
  return records;`;

const MOUNTED = `placard.mount('hero', document.getElementById('slot'), draw);`;

const CLOCK = `
  globalThis.skew = Number(new URLSearchParams(location.search).get('skew') ?? 0);
  const realNow = Date.now;
  Date.now = () => realNow() + skew;`;
const DAY = 24 * 60 * 60_000;

/** A page with only a store of the client. */
const openStore = async ({ pages, open }: Parameters<Scenario['run']>[0]) => {
  pages.set('/store', {
    script: `import { createIdbStore } from '/placard/idb-store.js';
             globalThis.store = createIdbStore('engine-test');`,
  });
  const page = await open('/store');
  await until(page, 'return Boolean(globalThis.store)');
  return page;
};

export const storage: Scenario[] = [
  {
    name: 'keeps records in key order, in one transaction each, over a reload',
    async run(engine) {
      const page = await openStore(engine);
      const keys = await page.run(`
        await store.setMany([[[2, 'a'], 1], ['text', 2], [[1, 9], 3], [7, 4], [[1, 10], 5], [[1, 'x'], 6]]);
        await store.update([7], ([value]) => [['sum', value + 1], [7, undefined]]);
        return (await store.entries()).map(([key]) => key);`);
      expect(keys).toEqual(['sum', 'text', [1, 9], [1, 10], [1, 'x'], [2, 'a']]);
      await page.reload();
      await until(page, 'return Boolean(globalThis.store)');
      expect(await page.run(`return store.get('sum')`)).toBe(5);
      expect(await page.run(`return (await store.entries({ from: [1, 10], to: [1, 'x'] })).length`)).toBe(2);
    },
  },
  {
    name: 'reports why a write failed',
    async run(engine) {
      const page = await openStore(engine);
      // A second `add` of a key fails like a request on a full disk: after the call, with its own error.
      const names = await page.run(`
        IDBObjectStore.prototype.put = IDBObjectStore.prototype.add;
        await store.setMany([['failing', 1]]);
        const getName = (error) => error?.name ?? String(error);
        const writes = [store.setMany([['failing', 2]]), store.update(['failing'], () => [['failing', 2]])];
        return Promise.all(writes.map((write) => write.catch(getName)));`);
      expect(names).toEqual(['ConstraintError', 'ConstraintError']);
    },
  },
  ...Object.entries(BLOCKED).map(
    ([how, { before = '', headers = {} }]): Scenario => ({
      name: `case 41: shows, counts and delivers in memory if IndexedDB ${how}`,
      async run({ fake, api, pages, open }) {
        const watch = `globalThis.errors = [];
          for (const type of ['error', 'unhandledrejection'])
            addEventListener(type, (event) => errors.push(String(event.message ?? event.reason)));`;
        const blocked = shop(api.origin, { before: `${watch} ${before}`, script: MOUNTED });
        pages.set('/blocked', { ...blocked, headers });
        const page = await open('/blocked');
        await until(page, TITLE);
        const captured = await page.run<BannerEvent[]>(`return count('click', 3)`);
        await until(page, heard('memory-mode'));
        await settle(page);
        assertDeliveredExactlyOnce(
          fake.events.filter(({ type }) => type === 'click'),
          captured,
        );
        expect(await page.run('return errors')).toEqual([]);
      },
    }),
  ),
  {
    name: 'removes everything on wipe, and writes and requests nothing afterwards',
    async run({ fake, open }) {
      const page = await open();
      await until(page, heard('tracked'));
      await page.run(`await count('click', 3)`);
      expect(await page.run(STORED)).toBeGreaterThan(3);
      await page.run('return placard.wipe()');
      expect(await page.run(STORED)).toBe(0);
      const asked = fake.requests.length;
      await page.run(`
        await placard.track({ id: 'banner-of-hero', placementId: 'hero' }, 'click');
        await placard.refresh();
        await placard.flush();
        dispatchEvent(new Event('online'));
        await frames(5);`);
      expect(await page.run(STORED)).toBe(0);
      expect(fake.requests).toHaveLength(asked);
    },
  },
  {
    name: 'case 55: judges an expiry by the service’s clock if the device is two days fast or slow',
    async run({ fake, api, pages, open }) {
      const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;
      pages.set('/clock', shop(api.origin, { before: CLOCK }));
      fake.setBanner('hero', buildBanner('hero', { title: 'Sale' }, { expires_at: inSeconds(3_600) }));
      const fast = await open(`/clock?skew=${2 * DAY}`);
      await until(fast, heard('synced'));
      await fast.reload();
      await until(fast, `return notices.some(({ type, from }) => type === 'shown' && from === 'cache')`);
      // The service's clock is stored in the same cache.
      await fast.close();
      fake.setBanner('hero', buildBanner('hero', { title: 'Sale' }, { expires_at: inSeconds(-60) }));
      const slow = await open(`/clock?skew=${-2 * DAY}`);
      await until(slow, heard('synced'));
      await until(slow, `return placard.banner('hero') === null`);
    },
  },
  {
    name: 'keeps the order and the number of events when the clock jumps back and forth',
    async run({ fake, api, pages, open }) {
      // All events wait until the end, because an event with a wrong time could not be corrected after it is sent.
      // The page makes its first request before the jumps: until then, events leave at the first pause.
      pages.set('/clock', shop(api.origin, { before: CLOCK, options: 'delivery: { maxDelayMs: 60_000 },' }));
      const page = await open('/clock');
      await until(page, TITLE);
      await page.run(`await count('click', 1); await placard.flush()`);
      const captured: BannerEvent[] = [];
      fake.events.length = 0;
      for (const hours of [0, -1, 2, -3]) {
        captured.push(
          ...(await page.run<BannerEvent[]>(`skew = ${hours} * 3600000; return count('click', 3)`)),
        );
      }
      // The last impression may still be in flight.
      await until(
        page,
        `await placard.flush();
        const { captured, delivered } = await placard.diagnostics();
        return captured === delivered`,
      );
      const clicks = fake.events.filter(({ type }) => type === 'click');
      assertDeliveredExactlyOnce(clicks, captured);
      assertDeliveredInOrder(clicks);
    },
  },
  {
    name: 'keeps a snoozed banner hidden over a reload and in the other tabs, and sends no event of it',
    async run({ fake, api, pages, open }) {
      fake.setBanner('hero', buildBanner('hero', { title: 'Sale', max_snooze_hours: 48 }));
      pages.set(
        '/snooze',
        shop(api.origin, {
          script: `placard.mount('hero', document.getElementById('slot'), (banner, slot) => {
            globalThis.snooze = () => slot.snooze(24);
            return draw(banner, slot);
          });`,
        }),
      );
      const other = await open('/snooze');
      await until(other, TITLE);
      const page = await open('/snooze');
      await until(page, TITLE);
      await page.run('return snooze()');
      await until(page, NO_TITLE);
      await until(other, NO_TITLE);
      await page.reload();
      await until(page, heard('hidden'));
      expect(await page.run(NO_TITLE)).toBe(true);
      // New events of the page are delivered, and no dismissal is among them.
      await page.run(`return placard.refresh()`);
      await oneSecondSeen(page, 'witness-1');
      await settle(page);
      expect(await page.run(`return placard.banner('hero')`)).toBeNull();
      expect(fake.events.filter(({ type }) => type === 'dismiss')).toEqual([]);
    },
  },
];
