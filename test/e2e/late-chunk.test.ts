import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Banner, BannerEvent, Placard } from '../../src/client/index.ts';
import { aBanner, assertDeliveredExactlyOnce, createFakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

type TestWindow = { placard: Placard; clicked?: Promise<BannerEvent | null> };

const service = createFakeService({ banners: { home: aBanner('home', { headline: 'Hello' }) } });
let api: HttpServer;
let browser: Browser;
let pages: PageServer;

beforeAll(async () => {
  [api, browser] = await Promise.all([serveHandler(service.handle), launchShell()]);
  const script = `
    import { createPlacard } from '/placard/index.js';
    import { hero } from '/placard/templates.js';
    window.placard = createPlacard({ endpoint: '${api.origin}', apiKey: 'client-key', appId: 'app', appVersion: '1', userId: 'u' });
    window.placard.mount('home', document.querySelector('#home'), hero);`;
  pages = await startPageServer({
    pages: { '/late': { html: '<div id="home" style="min-height: 240px"></div>', script } },
  });
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close(), api?.close()]);
});

test('a click is kept while the rest of the client cannot be loaded, and delivered once it can', async () => {
  const page = await browser.newPage();
  await page.goto(`${pages.origin}/late`);
  await page.getByText('Hello').waitFor();
  const banner = (await page.evaluate(() =>
    (window as unknown as TestWindow).placard.banner('home'),
  )) as Banner;

  let refused = 0;
  await page.route('**/chunks/after-paint*', (route) => {
    refused += 1;
    return route.abort();
  });
  await page.reload();
  await page.getByText('Hello').waitFor();
  await page.evaluate((banner) => {
    const test = window as unknown as TestWindow;
    test.clicked = test.placard.track(test.placard.banner(banner.placementId)!, 'click');
  }, banner);
  await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThan(1);

  await page.unroute('**/chunks/after-paint*');
  const event = await page.evaluate(() => (window as unknown as TestWindow).clicked);
  expect(event).toMatchObject({ type: 'click', bannerId: banner.id, userId: 'u' });
  await page.evaluate(() => (window as unknown as TestWindow).placard.flush());
  await expect
    .poll(() => service.events.filter(({ type }) => type === 'click').length, { timeout: 20_000 })
    .toBe(1);
  assertDeliveredExactlyOnce(
    service.events.filter(({ type }) => type === 'click'),
    [event!],
  );
});
