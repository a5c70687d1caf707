import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner-event.ts';
import { assertDeliveredExactlyOnce, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { capture, deliveryUrl, diagnose, openDelivery, untilDiagnostics } from '../helpers/delivery-pages.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

let browser: Browser;
let pages: PageServer;
let context: BrowserContext;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchBrowser(),
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
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService();
  api = await serveHandler(service.handle);
  pages.file(
    '/worker.js',
    `import { installSender } from '/placard/service-worker.js';
     installSender({ endpoint: '${api.origin}', apiKey: 'client-key', appId: 'app-1', delivery: { timeoutMs: 2000 } });
     addEventListener('activate', (event) => event.waitUntil(clients.claim()));`,
    { 'content-type': 'text/javascript' },
  );
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await api.close();
});

/** A page that is controlled by the worker, and knows that it holds the sender. */
const openControlled = async (options = {}): Promise<Page> => {
  const setUp = await context.newPage();
  await setUp.goto(`${pages.origin}/register`);
  await setUp.waitForFunction(() => document.title === 'registered');
  await setUp.close();
  const page = await context.newPage();
  await page.addInitScript(() => {
    navigator.serviceWorker?.addEventListener('message', ({ data }) => {
      if (data === 'placard: here') document.documentElement.dataset.sender = 'there';
    });
  });
  await page.goto(deliveryUrl(pages.origin, api.origin, { maxWaitMs: 600_000, ...options }));
  await page.waitForFunction(() => document.documentElement.dataset.sender === 'there');
  return page;
};

test('events of a page that closes at once leave through the worker, which reads the answer', async () => {
  const page = await openControlled();
  service.fail({ type: 'slow', delayMs: 300 });
  const events = await capture(page, 3);
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.requests[0]?.status).toBe(202);
  const next = await openDelivery(context, deliveryUrl(pages.origin, api.origin));
  await untilDiagnostics(next, { captured: 3, delivered: 3, inDoubt: 0, pending: 0 });
  expect(service.requests).toHaveLength(1);
  expect(await next.evaluate(() => globalThis.heard)).toEqual([]);
  assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
});

test('what the service skips waits for the correction hook of a page', async () => {
  const page = await openControlled();
  service.fail({ type: 'skip', indices: [0] });
  await capture(page, 2);
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.events.length).toBe(1);
  const next = await openDelivery(context, deliveryUrl(pages.origin, api.origin));
  await untilDiagnostics(next, { captured: 2, delivered: 1, pending: 1 });
  await expect.poll(() => service.events.length, { timeout: 20_000 }).toBe(2);
  expect(service.requests).toHaveLength(2);
});

test('a page without a worker sends its last events itself', async () => {
  const page = await openDelivery(context, deliveryUrl(pages.origin, api.origin, { maxWaitMs: 600_000 }));
  await capture(page, 1);
  await page.evaluate(() => globalThis.delivery.flush());
  await capture(page, 1, 'click', 'last');
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => service.events.length).toBe(2);
  const next = await openDelivery(context, deliveryUrl(pages.origin, api.origin));
  expect((await diagnose(next)).captured).toBe(2);
});
