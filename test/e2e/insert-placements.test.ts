// Placements by selector in a real browser, served by the real service: nothing on the page moves, whatever the selector.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../helpers/a-workspace.ts';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { times } from '../helpers/property.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';
import { watchPage } from '../helpers/watch-page.ts';

let browser: Browser;
let pages: PageServer;
let service: RunningService;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates'], minify: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
afterEach(() => service?.stop());

interface Spot {
  selector: string;
  insert?: string;
  paths?: string[];
  template?: string;
  height_px?: number;
  wide_height_px?: number;
}

/** A workspace with these placements, each with its own banner. */
const toWorkspace = (spots: Spot[], members: Record<string, unknown> = {}, campaign = {}) => {
  const placements = spots.map((spot, index) => ({ placement_id: `p${index}`, template: 'card', ...spot }));
  const campaigns = placements.map(({ placement_id }) =>
    aCampaign({
      campaign_id: placement_id,
      placements: [placement_id],
      variants: [aVariant({ properties: { headline: { type: 'string', value: `Offer ${placement_id}` } } })],
      ...campaign,
    }),
  );
  return aWorkspace({ placements, campaigns, ...members });
};

const serve = async (...workspace: Parameters<typeof toWorkspace>): Promise<void> => {
  service = await runService([toWorkspace(...workspace)]);
};

const client = () => `
  import { createPlacard, liveUpdates, selectors } from '/placard/index.js';
  import { card, hero, strip } from '/placard/templates.js';
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      shifts.push([value, ...sources.map(({ node, previousRect: { y }, currentRect }) =>
        [node?.parentElement?.className, node?.nodeName, node?.textContent.slice(0, 20), y, currentRect.y].join(' '))].join('; '));
  }).observe({ type: 'layout-shift', buffered: true });
  globalThis.notices = [];
  globalThis.placard = createPlacard({
    endpoint: '${service.url}', apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '1', userId: 'u-1',
    use: [selectors({ card, hero, strip }), location.pathname === '/live' && liveUpdates()].filter(Boolean), delivery: { maxDelayMs: 100 },
  });
  placard.subscribe((notice) => notices.push(notice));`;

const CSS = `
  * { box-sizing: border-box } body { margin: 0; font: 16px/1.4 sans-serif }
  header, footer { display: flex; gap: 16px; justify-content: space-between; padding: 16px }
  .grid { display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px }
  article { border: 1px solid; padding: 8px; min-height: 120px }
  main { display: flex; gap: 24px } .text { flex: 3 } aside { flex: 1 }
  .room { min-height: 400px } .middle { display: flex; align-items: center; min-height: 90vh }
`;
/** A typical shop page: flex, grid, a float, text beside elements, a box with room. */
const SHOP = `
  <header><b>Shop</b><nav><a href="#a">Bags</a> <a href="#b">Shoes</a></nav></header>
  <main><div class="text"><h1>New bags</h1><p class="lead">Some <em>words</em> about them.</p>
    <div class="room"></div>
    <div class="grid">${Array.from({ length: 24 }, (_, index) => `<article id="a${index}">Bag ${index}</article>`).join('')}</div>
    <ul><li>One<li>Two<li class="last">Three</ul></div>
    <aside><section class="one">Aside</section><section class="two">More</section></aside></main>
  <div class="middle"><p class="centred">In the middle</p></div>
  <footer><p>Imprint</p></footer>`;
const STYLE = '<link rel="stylesheet" href="/shop.css">';
const SELECTORS = [
  'header',
  'nav',
  'nav a',
  'h1',
  '.lead',
  '.lead em',
  '.room',
  '.grid',
  '#a0',
  '#a1',
  '#a5',
  '#a14',
  '#a23',
  'ul',
  '.last',
  'aside',
  '.one',
  '.two',
  '.middle',
  '.centred',
  'footer',
  'footer p',
  'main',
  '.text',
  'body',
];
const INSERTIONS = ['before', 'after', 'prepend', 'append'];

/** Headers of a page whose policy allows only what the client needs. */
const strictest = () => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    // For the page's own stylesheet.
    "style-src 'self'",
    `connect-src ${service.url}`,
    'img-src https: data:',
    "require-trusted-types-for 'script'",
  ].join('; '),
});

const open = async (path: string, headers: Record<string, string> = {}, html = SHOP, more = '') => {
  pages.file('/shop.css', CSS, { 'content-type': 'text/css' });
  pages.set(path, { html, head: STYLE, script: client() + more, headers });
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
  const complaints = await watchPage(page);
  await page.goto(pages.origin + path);
  return { page, complaints };
};

const boxes = (page: Page) => page.locator('[data-placard-placement]');
const offer = (page: Page, id = 'p0') => page.getByText(`Offer ${id}`);
const shifts = (page: Page) => page.evaluate<string[]>(`globalThis.shifts`);
const failures = (page: Page) =>
  page.evaluate(() =>
    (Reflect.get(globalThis, 'notices') as { type: string; message: string }[])
      .filter(({ type }) => type === 'failed')
      .map(({ message }) => message),
  );
/** Waits until every placement is in the page, or a notice reports why not. */
const settled = (page: Page, count: number) =>
  expect
    .poll(async () => (await boxes(page).count()) + (await failures(page)).length)
    .toBeGreaterThanOrEqual(count);

/** Returns the same numbers for the same seed. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

test.each(Array.from({ length: times(2) }, (_, index) => index + 1))(
  'random insertions do not cause layout shifts, on load and while the user scrolls (seed %i)',
  async (seed) => {
    const next = random(seed);
    const one = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
    const spots = Array.from({ length: 8 }, () => ({
      selector: one(SELECTORS),
      insert: one(INSERTIONS),
      template: one(['card', 'hero', 'strip']),
    }));
    await serve(spots);
    const { page, complaints } = await open('/random');
    await settled(page, spots.length);
    // Scrolls down and up again, frame by frame, while the client scans the page many times.
    await page.evaluate(async () => {
      const end = document.documentElement.scrollHeight;
      const steps = Array.from({ length: end / 30 }, (_, step) => step * 30);
      for (const y of [...steps, ...steps.reverse()]) {
        scrollTo(0, y);
        await new Promise(requestAnimationFrame);
      }
    });
    expect({ spots, shifts: await shifts(page) }).toEqual({ spots, shifts: [] });
    expect(await boxes(page).count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.close();
  },
);

test('shows a banner in view at once in a box with room, and counts its impression', async () => {
  await serve([{ selector: '.room', insert: 'prepend' }]);
  const { page } = await open('/room');
  await offer(page).waitFor();
  expect(await boxes(page).evaluate((box) => box.clientHeight)).toBe(344);
  await expect
    .poll(async () => {
      const { delivered } = (await page.evaluate(() => Reflect.get(globalThis, 'placard').diagnostics())) as {
        delivered: number;
      };
      return delivered;
    })
    .toBe(1);
  expect(await shifts(page)).toEqual([]);
  await page.close();
});

test('applies the wide height to boxes from 48 rem wide in any window, without another render', async () => {
  await serve([
    { selector: 'footer', insert: 'after', template: 'strip', height_px: 120, wide_height_px: 60 },
    { selector: '#a20', insert: 'prepend', template: 'strip', height_px: 130, wide_height_px: 50 },
    { selector: 'footer', insert: 'after', template: 'strip', height_px: 90, wide_height_px: 140 },
  ]);
  const { page, complaints } = await open('/widths', strictest());
  await expect.poll(() => boxes(page).count()).toBe(3);
  const heights = () =>
    boxes(page).evaluateAll((all: HTMLElement[]) =>
      Object.fromEntries(all.map((box) => [box.dataset['placardPlacement'], box.clientHeight])),
    );
  expect(await heights()).toEqual({ p0: 60, p1: 130, p2: 140 });
  for (const [width, p0, p2] of [
    [768, 60, 140],
    [767, 120, 90],
    [360, 120, 90],
    [1000, 60, 140],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    expect(await heights(), `${width}`).toEqual({ p0, p1: 130, p2 });
  }
  const shown = await page.evaluate(() =>
    (Reflect.get(globalThis, 'notices') as { type: string }[]).filter(({ type }) => type === 'shown'),
  );
  expect(shown).toHaveLength(3);
  expect(complaints).toEqual([]);
  await page.close();
});

test('waits and reports it if a box would shift the page, and inserts it once out of view', async () => {
  await serve([{ selector: '#a23', insert: 'before' }]);
  const { page } = await open('/waits', {}, SHOP, 'scrollTo(0, 900)');
  await expect
    .poll(() => failures(page))
    .toEqual([expect.stringMatching(/waiting until its position is out of view or has room/)]);
  expect(await boxes(page).count()).toBe(0);
  await page.evaluate(() => scrollTo(0, 0));
  await boxes(page).waitFor({ state: 'attached' });
  expect(await shifts(page)).toEqual([]);
  await page.close();
});

test('works under the strictest policy', async () => {
  await serve([
    { selector: '.room', insert: 'append' },
    { selector: 'footer', insert: 'after', template: 'hero' },
  ]);
  const { page, complaints } = await open('/strict', strictest());
  await offer(page).waitFor();
  await expect.poll(() => boxes(page).count()).toBe(2);
  expect(complaints).toEqual([]);
  await page.close();
});

/** A typical framework router: `pushState`, then another page in the same root. */
const ROUTER = `
  const root = document.querySelector('#root');
  const draw = () => {
    root.replaceChildren();
    const main = document.createElement('main');
    const heading = document.createElement('h1');
    heading.textContent = location.pathname;
    const room = document.createElement('div');
    room.className = 'room';
    main.append(heading, room);
    root.append(main);
  };
  globalThis.go = (path) => { history.pushState(null, '', path); draw(); };
  addEventListener('popstate', draw);
  draw();`;

test('follows its paths in a single-page app, on each navigation and on back', async () => {
  await serve([{ selector: '.room', insert: 'prepend', paths: ['/app', '/products/*'] }]);
  const { page } = await open('/app', {}, '<div id="root"></div>', ROUTER);
  await offer(page).waitFor();
  const go = (path: string) => page.evaluate((to) => Reflect.get(globalThis, 'go')(to), path);
  await go('/cart');
  await expect.poll(() => boxes(page).count()).toBe(0);
  await go('/products/1');
  await offer(page).waitFor();
  await go('/products/2');
  await offer(page).waitFor();
  await go('/cart');
  await expect.poll(() => boxes(page).count()).toBe(0);
  await page.goBack();
  await page.getByRole('heading', { name: '/products/2' }).waitFor();
  await offer(page).waitFor();
  expect(await failures(page)).toEqual([]);
  await page.close();
});

test('shows the banner again on a page that keeps its routes alive, and reinserts a removed box up to three times', async () => {
  await serve([{ selector: '.room', insert: 'prepend' }]);
  const { page } = await open('/kept');
  await offer(page).waitFor();
  for (let times = 0; times < 5; times += 1) {
    await page.evaluate(() => {
      const kept = document.querySelector('main')!;
      Reflect.set(globalThis, 'kept', kept);
      kept.remove();
    });
    await expect.poll(() => boxes(page).count()).toBe(0);
    await page.evaluate(() => document.querySelector('header')!.after(Reflect.get(globalThis, 'kept')));
    await offer(page).waitFor();
  }
  expect(await failures(page)).toEqual([]);

  for (let times = 0; times < 3; times += 1) {
    await page.evaluate(() => document.querySelector('[data-placard-placement]')!.remove());
    await offer(page).waitFor();
  }
  await page.evaluate(() => document.querySelector('[data-placard-placement]')!.remove());
  await expect.poll(() => failures(page)).toEqual([expect.stringMatching(/keeps removing it/)]);
  expect(await boxes(page).count()).toBe(0);
  await page.close();
});

test('a visible page removes a stopped banner and hears of a new one within ten seconds, without a refresh budget', async () => {
  const spots = [{ selector: '.room', insert: 'prepend' }];
  const polling = { banner_poll_seconds: 2 };
  await serve(spots, polling);
  const { page, complaints } = await open('/live');
  await offer(page).waitFor();
  await page.evaluate(async () => {
    const placard = Reflect.get(globalThis, 'placard') as { refresh(): Promise<void> };
    for (let calls = 0; calls < 20; calls += 1) await placard.refresh();
  });
  expect(await failures(page)).toContainEqual(expect.stringContaining('budget'));
  const before = (await failures(page)).length;

  const stopped = performance.now();
  service.reload([toWorkspace(spots, polling, { status: 'stopped' })]);
  await offer(page).waitFor({ state: 'detached' });
  expect(performance.now() - stopped).toBeLessThan(10_000);
  expect(await shifts(page)).toEqual([]);

  const hears = page.waitForFunction(() =>
    (Reflect.get(globalThis, 'notices') as { type: string; banners?: Record<string, unknown> }[])
      .slice(-1)
      .some(({ type, banners }) => type === 'synced' && banners?.['p0']),
  );
  service.reload([toWorkspace(spots, polling)]);
  await hears;
  expect((await failures(page)).length).toBe(before);
  expect(complaints).toEqual([]);
  await page.close();
});
