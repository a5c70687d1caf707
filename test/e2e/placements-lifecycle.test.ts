import type { Page } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { BROWSER_ARGUMENTS, findBrowser } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import {
  hide,
  type LifecycleBrowser,
  launchLifecycleBrowser,
  show,
  throughBfcache,
  WHERE_STORED,
  WHOLE_CHROMIUM,
} from '../helpers/lifecycle-browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

declare global {
  /** Time of the first notice of each kind, in milliseconds since the page's navigation. */
  var firstHeard: Record<string, number>;
  /** Time at which the page first became visible, by the same clock. */
  var visibleAt: number | undefined;
}

let lifecycle: LifecycleBrowser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [lifecycle, pages] = await Promise.all([
    launchLifecycleBrowser(),
    startPageServer({ entries: ['index'], minify: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([lifecycle?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService({
    banners: { home_hero: buildBanner('home_hero', { headline: 'Summer sale' }) },
  });
  api = await serveHandler(service.handle);
});
afterEach(() => api.close());

const setPage = (path: string, appId: string) =>
  pages.set(path, {
    head: '<style>#slot { width: 300px; height: 120px }</style>',
    html: '<div id="slot"></div>',
    script: `
      import { createPlacard } from '/placard/index.js';
      void fetch('/ran${path}?prerendering=' + (document.prerendering ?? false));
      globalThis.firstHeard = {};
      document.addEventListener('visibilitychange', () => {
        if (document.visibilityState === 'visible') globalThis.visibleAt ??= performance.now();
      });
      const placard = createPlacard({
        endpoint: '${api.origin}', apiKey: 'client-key', appId: '${appId}', appVersion: '1', userId: 'u-1',
      });
      globalThis.placard = placard;
      placard.subscribe(({ type }) => (firstHeard[type] ??= performance.now()));
      placard.mount('home_hero', document.querySelector('#slot'), (banner, slot) => {
        slot.element.textContent = banner.properties.headline.value;
      });`,
  });

const hears = (page: Page, type: string) =>
  // A hidden page paints no frames, so the condition is polled with a timer.
  page.waitForFunction((wanted) => globalThis.firstHeard?.[wanted], type, { polling: 50 });

/** Resolves when a banner in a separate visible page has been seen for one second. */
const oneSecondSeenElsewhere = async (appId: string): Promise<void> => {
  setPage('/witness', appId);
  const witness = await lifecycle.newPage(`${pages.origin}/witness`);
  await hears(witness, 'tracked');
  await witness.close();
};

test('case 33: a tab opened in the background shows its banner but does not count it until it is visible', async () => {
  setPage('/background', 'background');
  const page = await lifecycle.newPage();
  await hide(page);
  await page.goto(`${pages.origin}/background`);
  await hears(page, 'synced');
  await hears(page, 'shown');
  expect(await page.evaluate(() => document.visibilityState)).toBe('hidden');
  await oneSecondSeenElsewhere('background-witness');
  expect(await page.evaluate(() => 'tracked' in firstHeard)).toBe(false);
  await show(page);
  await hears(page, 'tracked');
  const second = await page.evaluate(() => firstHeard['tracked']! - visibleAt!);
  expect(second).toBeGreaterThanOrEqual(1_000);
  await page.close();
});

test('cases 31 and 32: a prerendered page does not send or count before activation, which starts the second', async (context) => {
  context.skip(!lifecycle.hasBfcache, WHOLE_CHROMIUM);
  setPage('/target', 'prerender');
  pages.set('/start', {
    head: '<script type="speculationrules">{"prerender":[{"source":"list","urls":["/target"],"eagerness":"immediate"}]}</script>',
    html: '<p>Start</p>',
  });
  // Playwright leaves a prerendered page waiting for a debugger that never attaches; Puppeteer lets it run.
  const { path, env } = await findBrowser();
  const browser = await puppeteer.launch({
    executablePath: path,
    env: { ...process.env, ...env },
    args: BROWSER_ARGUMENTS,
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${pages.origin}/start`);
    const asked = () => pages.requests.join(' ');
    await expect.poll(asked).toContain('/ran/target?prerendering=true');
    await expect.poll(asked).toContain('deferred-client');
    await oneSecondSeenElsewhere('prerender-witness');
    const forTarget = () => service.requests.filter(({ text }) => text.includes('"prerender"'));
    expect(forTarget()).toEqual([]);
    await Promise.all([
      page.waitForNavigation(),
      page.evaluate(() => setTimeout(() => location.assign('/target'))),
    ]);
    await page.waitForFunction(() => globalThis.firstHeard?.['tracked']);
    const { activatedAt, countedAt } = await page.evaluate(() => {
      const [entry] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & {
        activationStart: number;
      })[];
      return {
        activatedAt: entry!.activationStart,
        countedAt: firstHeard['tracked']!,
      };
    });
    expect(activatedAt).toBeGreaterThan(0);
    expect(countedAt - activatedAt).toBeGreaterThanOrEqual(1_000);
    expect(forTarget().some(({ path: asked }) => asked.endsWith('/sync'))).toBe(true);
  } finally {
    await browser.close();
  }
});

test('a page restored from the bfcache shows the changes of another tab', WHERE_STORED, async (context) => {
  context.skip(!lifecycle.hasBfcache, WHOLE_CHROMIUM);
  setPage('/restored', 'restored');
  pages.set('/away', { html: '<p>Away</p>' });
  const page = await lifecycle.newPage(`${pages.origin}/restored`);
  await hears(page, 'tracked');
  await throughBfcache(page, `${pages.origin}/away`, async () => {
    const other = await lifecycle.newPage(`${pages.origin}/restored`);
    await hears(other, 'shown');
    await other.evaluate(() => placard.track(placard.banner('home_hero')!, 'dismiss'));
    await other.close();
  });
  await page.waitForFunction(() => document.querySelector('#slot')!.textContent === '');
  await page.close();
});
