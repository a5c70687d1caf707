import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { DeliveryOptions } from '../../src/client/index.ts';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from './browser.ts';
import {
  capture,
  deliveryUrl,
  flush,
  openDelivery,
  startDeliveryPages,
  untilDiagnostics,
} from './delivery-pages.ts';
import { type HttpServer, serveHandler } from './http-server.ts';
import type { PageServer } from './page-server.ts';

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
    service = createFakeService();
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
