import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { BannerEvent, EventType } from '../../src/client/banner.ts';
import type { Diagnostics, FlushResult } from '../../src/client/delivery/delivery.ts';
import type { DeliveryOptions } from '../../src/client/index.ts';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import type {} from '../e2e/pages/delivery-page.ts';
import { launchShell } from './browser.ts';
import { type HttpServer, serveHandler } from './http-server.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { patience } from './patience.ts';

/** Serves `/delivery`, a page that runs the client's delivery only, and `/bare`, an empty page. */
export const startDeliveryPages = (origins = 1): Promise<PageServer> =>
  startPageServer({
    entries: [],
    modules: { delivery: 'test/e2e/pages/delivery-page.ts' },
    origins,
    pages: {
      '/delivery': { script: "import '/placard/delivery.js'; document.title = 'ready';" },
      '/bare': { html: '<p>Nothing here</p>' },
    },
  });

export const deliveryUrl = (
  origin: string,
  api: string,
  options: Partial<DeliveryOptions> = {},
  more: Record<string, string> = {},
): string => `${origin}/delivery?${new URLSearchParams({ api, options: JSON.stringify(options), ...more })}`;

export const ready = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => globalThis.delivery !== undefined, undefined, { polling: 20 });

/** Opens `/delivery` and waits until it runs. */
export const openDelivery = async (context: Pick<BrowserContext, 'newPage'>, url: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(url);
  await ready(page);
  return page;
};

/** Captures events in one task; resolves with them when all are durable. */
export const capture = (
  page: Page,
  count = 1,
  type: EventType = 'click',
  prefix = 'b',
): Promise<(BannerEvent | null)[]> =>
  page.evaluate(
    ([many, kind, name]) =>
      Promise.all(
        Array.from({ length: many }, (_, i) =>
          globalThis.delivery.capture({
            type: kind,
            bannerId: `${name}${i}`,
            placementId: 'p1',
            userId: 'u1',
          }),
        ),
      ),
    [count, type, prefix] as const,
  );

export const diagnose = (page: Page): Promise<Diagnostics> =>
  page.evaluate(() => globalThis.delivery.diagnostics());

export const flush = (page: Page): Promise<FlushResult> => page.evaluate(() => globalThis.delivery.flush());

/** Flushes until all captured events, and at least `count`, are delivered. */
export const untilDelivered = (page: Page, least = 0): Promise<void> =>
  expect
    .poll(
      async () => {
        await flush(page);
        const { captured, delivered } = await diagnose(page);
        return captured < least ? `${captured} captured` : captured - delivered;
      },
      { interval: 100, timeout: patience(60_000) },
    )
    .toBe(0);

/** Waits for these diagnostics. A batch of a closed page is taken over after ten seconds. */
export const untilDiagnostics = (page: Page, expected: Partial<Diagnostics>): Promise<void> =>
  expect.poll(() => diagnose(page), { interval: 50, timeout: patience(60_000) }).toMatchObject(expected);

/** Fixtures of the running test. */
export let pages: PageServer;
export let service: FakeService;
export let api: HttpServer;
export let context: BrowserContext;

interface StageOptions {
  startPages?: () => Promise<PageServer>;
  /** Request handler. Default: the test's fake service. */
  handle?: (request: Request) => Promise<Response>;
}

/** Starts pages per file and a service per test. */
export const stageDelivery = ({ startPages = startDeliveryPages, handle }: StageOptions = {}): void => {
  beforeAll(async () => {
    pages = await startPages();
  });
  afterAll(() => pages?.close());
  beforeEach(async () => {
    service = createFakeService({ users: 'everyone' });
    api = await serveHandler(handle ?? service.handle);
  });
  afterEach(() => api.close());
};

/** Launches a browser per file and a browser context per test. */
export const stageContext = (): void => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchShell();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    context = await browser!.newContext();
  });
  afterEach(() => context.close());
};

/** Opens `/delivery` in the test's browser context. */
export const open = (options: Partial<DeliveryOptions> = {}): Promise<Page> =>
  openDelivery(context, deliveryUrl(pages.origin, api.origin, options));

/**
 * Delivers one event, because a page whose preflight is cached sends no event early. `delivered`: expected count, events
 * of other pages included.
 */
export const warmUp = async (page: Page, delivered = 1): Promise<void> => {
  await capture(page, 1, 'impression', 'warm');
  await flush(page);
  await untilDiagnostics(page, { delivered });
  service.clear();
};
