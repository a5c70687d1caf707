import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner.ts';
import { emptyRecord, recordKey, type UserRecord } from '../../src/client/banners/user-record.ts';
import type { StoreKey } from '../../src/client/platform/store.ts';
import { assertDeliveredExactlyOnce } from '../../src/testing/index.ts';
import {
  api,
  capture,
  context,
  deliveryUrl,
  flush,
  open,
  pages,
  service,
  stageContext,
  stageDelivery,
  untilDiagnostics,
  warmUp,
} from '../helpers/delivery-stage.ts';
import { startPageServer } from '../helpers/page-server.ts';
import { patience } from '../helpers/patience.ts';

stageDelivery({
  startPages: () =>
    startPageServer({
      entries: [],
      modules: {
        delivery: 'test/e2e/pages/delivery-page.ts',
        'service-worker': 'src/client/service-worker.ts',
      },
      pages: {
        '/delivery': { script: "import '/placard/delivery.js';" },
        '/register': {
          script: `await navigator.serviceWorker.register('/worker.js', { type: 'module' });
                   await navigator.serviceWorker.ready;
                   document.title = 'registered';`,
        },
      },
    }),
});
stageContext();
beforeEach(() => {
  pages.file(
    '/worker.js',
    `import { installDelivery } from '/placard/service-worker.js';
     installDelivery({ endpoint: '${api.origin}', apiKey: 'client-key', appId: 'app-1', delivery: { timeoutMs: 20_000 } });
     addEventListener('activate', (event) => event.waitUntil(clients.claim()));`,
    { 'content-type': 'text/javascript' },
  );
});

/** Returns the stored record of a user. Writes `record` first, if given. */
const onUserRecord = (page: Page, key: StoreKey, record?: UserRecord): Promise<UserRecord | undefined> =>
  page.evaluate(
    async ([at, written]) => {
      const opening = indexedDB.open('placard-banners');
      opening.onupgradeneeded = () => opening.result.createObjectStore('records');
      await new Promise((resolve) => {
        opening.onsuccess = resolve;
      });
      const store = opening.result.transaction('records', 'readwrite').objectStore('records');
      // A `Map` cannot be passed from the test to the page.
      if (written) store.put({ ...written, banners: new Map() }, at);
      const reading = store.get(at);
      await new Promise((resolve) => {
        reading.onsuccess = resolve;
      });
      opening.result.close();
      return reading.result;
    },
    // Playwright’s argument type expands a JSON type without end.
    [key, record as object | undefined] as const,
  );

/** A page controlled by the worker, which knows that the worker has the sender. It has delivered one event. */
const openControlled = async (options = {}): Promise<Page> => {
  const setUp = await context.newPage();
  await setUp.goto(`${pages.origin}/register`);
  await setUp.waitForFunction(() => document.title === 'registered');
  await setUp.close();
  const page = await context.newPage();
  await page.addInitScript(() => {
    navigator.serviceWorker?.addEventListener('message', ({ data }) => {
      if (String(data).endsWith(': here')) document.documentElement.dataset.sender = 'there';
    });
  });
  await page.goto(deliveryUrl(pages.origin, api.origin, { maxDelayMs: 600_000, ...options }));
  await page.waitForFunction(() => document.documentElement.dataset.sender === 'there');
  // A page without a cached preflight would send its first events early.
  await warmUp(page);
  return page;
};

test('the worker sends the events of a page that closes at once, and reads the response', async () => {
  const page = await openControlled();
  service.fail({ type: 'slow', delayMs: 300 });
  const events = await capture(page, 3);
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.requests[0]?.status).toBe(202);
  const next = await open();
  await untilDiagnostics(next, { captured: 4, delivered: 4, inDoubt: 0, pending: 0 });
  expect(service.requests).toHaveLength(1);
  // The page may hear of the worker’s delivery if it opened before that ended; nothing else happened.
  const heard = await next.evaluate(() => globalThis.heard.filter(({ type }) => type !== 'delivered'));
  expect(heard).toEqual([]);
  assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
});

test('an open page receives the results of the worker’s deliveries', async () => {
  const page = await openControlled();
  const other = await open({ maxDelayMs: 600_000 });
  const events = await capture(page, 3);
  await page.close({ runBeforeUnload: true });
  await expect
    .poll(() => other.evaluate(() => globalThis.heard.filter(({ type }) => type === 'delivered')))
    .toEqual([{ type: 'delivered', events }]);
});

test('starts the grace period of a dismissal with the response to the worker, with or without an open page', async () => {
  const page = await openControlled();
  const key = recordKey(api.origin, 'app-1', 'u1');
  const dismissed = [{ placementId: 'p1', bannerId: 'b0', acceptedAtMs: null }];
  await onUserRecord(page, key, { ...emptyRecord(), dismissed });
  await capture(page, 1, 'dismiss');
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.events.length).toBe(1);
  const next = await context.newPage();
  await next.goto(`${pages.origin}/register`);
  await expect
    .poll(async () => (await onUserRecord(next, key))?.dismissed[0]?.acceptedAtMs)
    .toBeGreaterThan(Date.now() - 60_000);
});

test('events that the service rejects wait for the correction hook of a page', async () => {
  const page = await openControlled();
  service.fail({ type: 'skip', indices: [0] });
  await capture(page, 2);
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.events.length).toBe(1);
  const next = await open();
  await untilDiagnostics(next, { captured: 3, delivered: 2, pending: 1 });
  await expect.poll(() => service.events.length, { timeout: patience(20_000) }).toBe(2);
  expect(service.requests).toHaveLength(2);
});

test('a page without a worker sends its last events itself', async () => {
  const page = await open({ maxDelayMs: 600_000 });
  await capture(page, 1);
  await flush(page);
  await capture(page, 1, 'click', 'last');
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.events.length).toBe(2);
  const next = await open();
  await untilDiagnostics(next, { captured: 2 });
});
