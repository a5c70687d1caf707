import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { BannerEvent, EventType } from '../../src/client/banner.ts';
import type { Diagnostics, FlushOutcome } from '../../src/client/delivery/delivery.ts';
import type { DeliveryOptions } from '../../src/client/index.ts';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import type {} from '../e2e/pages/delivery-page.ts';
import { launchShell } from './browser.ts';
import { type HttpServer, serveHandler } from './http-server.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { patience } from './patience.ts';

/** Serves `/delivery`, a page that runs the delivery half of the client, and `/bare`, a page that runs nothing. */
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

/** Opens a page of the delivery and waits until it runs. */
export const openDelivery = async (context: Pick<BrowserContext, 'newPage'>, url: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(url);
  await ready(page);
  return page;
};

/** Captures events in one task and answers them when all are durable. */
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

/** Sends what is due now. */
export const flush = (page: Page): Promise<FlushOutcome> => page.evaluate(() => globalThis.delivery.flush());

/** Sends until all that was captured is delivered, and that is at least so much. */
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

/** Waits until the diagnostics show these numbers. What a page that is gone has sent is taken over after ten seconds of it. */
export const untilDiagnostics = (page: Page, expected: Partial<Diagnostics>): Promise<void> =>
  expect.poll(() => diagnose(page), { interval: 50, timeout: patience(60_000) }).toMatchObject(expected);

/** What every test of the delivery in a browser stands on. A file that imports them finds those of its present test. */
export let pages: PageServer;
export let service: FakeService;
export let api: HttpServer;
export let context: BrowserContext;

interface StageOptions {
  startPages?: () => Promise<PageServer>;
  /** What answers the requests. Default: the service of the test. */
  handle?: (request: Request) => Promise<Response>;
}

/** Pages for the file, and for each test a service on a port of its own. */
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

/** A browser for the file, and for each test a profile of its own. */
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

/** Opens a page of the delivery in the test's profile. */
export const open = (options: Partial<DeliveryOptions> = {}): Promise<Page> =>
  openDelivery(context, deliveryUrl(pages.origin, api.origin, options));

/**
 * One event that is sent and forgotten: a page whose preflight is warm sends nothing early any more. `delivered`: so many
 * with those of other pages.
 */
export const warmUp = async (page: Page, delivered = 1): Promise<void> => {
  await capture(page, 1, 'impression', 'warm');
  await flush(page);
  await untilDiagnostics(page, { delivered });
  service.clear();
};
