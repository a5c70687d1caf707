import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SYNC_PATH } from '../../src/protocol/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

declare global {
  var notices: { type: string; from?: string; kind?: string; reason?: string; message?: string }[];
  var shifts: number[];
  var placard: import('../../src/client/index.ts').Placard;
}

let browser: Browser;
let pages: PageServer;
let context: BrowserContext;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index'], minify: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService({
    banners: { home_hero: buildBanner('home_hero', { headline: 'Summer sale' }) },
  });
  api = await serveHandler(service.handle);
  context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
});
afterEach(async () => {
  await context.close();
  await api.close();
});

/** A banner 120 pixels high in `#slot`; layout shifts are summed from the first frame on. */
const script = (origin: string) => `
  import { createPlacard } from '/placard/index.js';
  globalThis.notices = [];
  globalThis.placard = createPlacard({
    endpoint: '${origin}', apiKey: 'client-key', appId: 'paint', appVersion: '1', userId: 'u-1',
  });
  placard.subscribe((notice) => notices.push(notice));
  placard.mount('home_hero', document.querySelector('#slot'), (banner, { element }) => {
    const box = document.createElement('div');
    box.className = 'banner';
    box.textContent = banner.properties.headline.value;
    element.append(box);
  });
`;
const WATCH_SHIFTS = `<script>
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push(entry.value);
  }).observe({ type: 'layout-shift', buffered: true });
</script>`;

const setPage = (path: string, style = '', head = '') =>
  pages.set(path, {
    head: `${head}${WATCH_SHIFTS}<style>body { margin: 0 } .banner { height: 120px; background: #ddd } ${style}</style>`,
    html: '<div id="slot"></div><p>Text that must not move</p>',
    script: script(api.origin),
  });

const open = async (path: string): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(pages.origin + path);
  return page;
};

const heard = (page: Page, type: string) =>
  page.waitForFunction((wanted) => globalThis.notices?.some((notice) => notice.type === wanted), type);

/** Sum of the layout shifts, read after two frames so that all are reported. */
const shiftScore = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
    return globalThis.shifts.reduce((sum, value) => sum + value, 0);
  });

test('paints a banner of the last visit on a reload with the service stopped', async () => {
  setPage('/stopped');
  const page = await open('/stopped');
  await heard(page, 'synced');
  await page.evaluate(() => placard.flush());
  await api.stop();
  await page.reload();
  await page.getByText('Summer sale').waitFor();
  expect(await page.evaluate(() => notices.find(({ type }) => type === 'shown')?.from)).toBe('cache');
  await heard(page, 'failed');
  expect(await page.getByText('Summer sale').isVisible()).toBe(true);
});

test('paints the cached banner before any network request', async () => {
  setPage('/first');
  const page = await open('/first');
  await heard(page, 'synced');
  service.fail({ type: 'hang' }, { path: SYNC_PATH, times: Number.POSITIVE_INFINITY });
  service.clear();
  await page.reload();
  await heard(page, 'shown');
  expect(await page.getByText('Summer sale').isVisible()).toBe(true);
  expect(await page.evaluate(() => notices.some(({ type }) => type === 'synced'))).toBe(false);
});

test('detects a layout shift of a late first banner without a box', async () => {
  setPage('/boxless');
  // Only elements that were painted can shift.
  await context.route(api.origin + SYNC_PATH, async (route) => {
    await route
      .request()
      .frame()
      .waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
    await route.continue();
  });
  const page = await open('/boxless');
  await heard(page, 'shown');
  expect(await shiftScore(page)).toBeGreaterThan(0);
});

const BOX = '#slot { min-height: 120px }';

test('case 57: a declared box prevents a layout shift on a first visit, even if the banner arrives late', async () => {
  setPage('/cold', BOX);
  service.fail({ type: 'slow', delayMs: 300 });
  const page = await open('/cold');
  await heard(page, 'shown');
  expect(await shiftScore(page)).toBe(0);
});

test('case 57: a declared box prevents a layout shift if no user is eligible or the sync fails', async () => {
  setPage('/none', BOX);
  service.setBanner('home_hero', null);
  const page = await open('/none');
  await heard(page, 'hidden');
  expect(await shiftScore(page)).toBe(0);
  service.fail({ type: 'status', status: 404 });
  await page.reload();
  await heard(page, 'failed');
  expect(await shiftScore(page)).toBe(0);
});

test('a stored box prevents a layout shift without a declared one if the slot is mounted before the first frame', async () => {
  setPage('/warm', '', '<script type="module" blocking="render" src="/scripts/warm.js"></script>');
  const page = await open('/warm');
  await heard(page, 'tracked');
  expect(await page.evaluate(() => Object.values(localStorage).join())).toContain('120');
  await page.reload();
  await heard(page, 'synced');
  expect(await page.getByText('Summer sale').isVisible()).toBe(true);
  expect(await shiftScore(page)).toBe(0);
});

test('stores the same box if the page gives the slot padding and a border', async () => {
  const padded = '#slot { width: 400px; padding: 10px; border: 5px solid }';
  setPage('/padded', padded, '<script type="module" blocking="render" src="/scripts/padded.js"></script>');
  const page = await open('/padded');
  await heard(page, 'tracked');
  await page.reload();
  await heard(page, 'synced');
  expect(await page.locator('#slot').boundingBox()).toMatchObject({ width: 430, height: 150 });
  expect(await shiftScore(page)).toBe(0);
});

test('case 60: replaces or removes a banner only out of view, without a layout shift', async () => {
  setPage('/swap', `${BOX} main { height: 3000px }`);
  const page = await open('/swap');
  await page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('div'), { style: 'height: 3000px' }));
  });
  await heard(page, 'synced');
  service.setBanner('home_hero', buildBanner('home_hero', { headline: 'Winter sale' }, { id: 'winter' }));
  await page.evaluate(() => placard.refresh());
  expect(await page.locator('#slot').textContent()).toBe('Summer sale');
  await page.evaluate(() => scrollTo(0, 2000));
  await page.waitForFunction(() => document.querySelector('#slot')!.textContent === 'Winter sale');
  await page.evaluate(() => scrollTo(0, 0));
  service.setBanner('home_hero', null);
  await page.evaluate(() => placard.refresh());
  expect(await page.locator('#slot').textContent()).toBe('Winter sale');
  expect(await shiftScore(page)).toBe(0);
  await page.evaluate(() => scrollTo(0, 2000));
  await page.waitForFunction(() => document.querySelector('#slot')!.textContent === '');
  await page.evaluate(() => scrollTo(0, 2500));
  await page.waitForFunction(() => document.querySelector<HTMLElement>('#slot')!.offsetHeight === 0);
  expect(await shiftScore(page)).toBe(0);
});

test('case 38: removes a banner dismissed in one tab from the other tab at once, and sends one dismissal', async () => {
  setPage('/tabs', BOX);
  const a = await open('/tabs');
  const b = await open('/tabs');
  await Promise.all([a.getByText('Summer sale').waitFor(), b.getByText('Summer sale').waitFor()]);
  await Promise.all([heard(a, 'synced'), heard(b, 'synced')]);
  await a.evaluate(async () => {
    await placard.track(placard.banner('home_hero')!, 'dismiss');
  });
  await b.waitForFunction(() => document.querySelector('#slot')!.textContent === '');
  const second = await b.evaluate(async () => placard.banner('home_hero'));
  expect(second).toBeNull();
  await a.evaluate(() => placard.flush());
  await b.evaluate(() => placard.flush());
  expect(service.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
});

test('case 39: counts the same banner in two tabs as one impression of the session', async () => {
  service.setBanner('witness', buildBanner('witness'));
  setPage('/twice', BOX);
  const a = await open('/twice');
  await heard(a, 'tracked');
  const b = await open('/twice');
  await heard(b, 'shown');
  await b.reload();
  await heard(b, 'synced');
  await b.evaluate(async () => {
    // A separate banner is seen for a second, so the first one was in view for as long.
    const { promise, resolve } = Promise.withResolvers<void>();
    placard.subscribe(
      (notice) => notice.type === 'tracked' && notice.event.placementId === 'witness' && resolve(),
    );
    const element = document.createElement('div');
    element.style.cssText = 'position: fixed; bottom: 0; width: 50px; height: 50px';
    document.body.append(element);
    placard.mount('witness', element, () => undefined);
    await promise;
  });
  await a.evaluate(() => placard.flush());
  await b.evaluate(() => placard.flush());
  const impressions = service.events.filter(({ type }) => type === 'impression');
  expect(impressions.map(({ bannerId }) => bannerId).sort()).toEqual([
    'banner-of-home_hero',
    'banner-of-witness',
  ]);
});

test('1,000 mounts, unmounted or just removed, leave no nodes, listeners or observers behind', async () => {
  setPage('/leaks', BOX);
  const page = await open('/leaks');
  await heard(page, 'tracked');
  const session = await context.newCDPSession(page);
  const count = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    return { nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
  await session.send('Performance.enable');
  const mountMany = (times: number) =>
    page.evaluate(async (mounts) => {
      for (let at = 0; at < mounts; at++) {
        const element = document.createElement('div');
        document.body.append(element);
        const unmount = placard.mount('home_hero', element, (banner, slot) => {
          if (at % 4 === 0) throw new Error('A hook that throws');
          slot.element.append(document.createElement('b'), banner.id);
          element.addEventListener('click', () => void slot.click(), { signal: slot.signal });
          if (at % 4 === 1) return new Promise(() => undefined) as never;
        });
        if (at % 2) unmount();
        element.remove();
        if (at % 50 === 0) await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      // The next mount detects slots that were removed without an unmount.
      placard.mount('home_hero', document.createElement('div'), () => undefined)();
      notices.length = 0;
    }, times);
  await page.evaluate(() => {
    const live = new Set<unknown>();
    Object.assign(globalThis, { live });
    for (const { prototype } of [IntersectionObserver, ResizeObserver]) {
      const { observe, disconnect } = prototype;
      prototype.observe = function (this: never, element: Element) {
        live.add(this);
        observe.call(this, element);
      };
      prototype.disconnect = function (this: never) {
        live.delete(this);
        disconnect.call(this);
      };
    }
  });
  await mountMany(50);
  const before = await count();
  await mountMany(1_000);
  const after = await count();
  // The last 20 slots removed without an unmount are kept, because they may be put back.
  expect(
    await page.evaluate(() => (globalThis as unknown as { live: Set<unknown> }).live.size),
  ).toBeLessThanOrEqual(20);
  expect(after.nodes - before.nodes).toBeLessThan(20);
  expect(after.listeners - before.listeners).toBeLessThan(20);
});
