import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer, type TestPage } from '../helpers/page-server.ts';

let browser: Browser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [browser, pages] = await Promise.all([launchShell(), startPageServer({ entries: ['index', 'templates'] })]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService();
  api = await serveHandler(service.handle);
});
afterEach(() => api.close());

const SLOT = '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>';
const script = (placementId = 'home_hero') => `
  import { createPlacard } from '/placard/index.js';
  import { hero } from '/placard/templates.js';
  globalThis.notices = [];
  globalThis.placard = createPlacard({
    endpoint: '${api.origin}', apiKey: 'client-key', appId: 'odd', appVersion: '1', userId: 'u-1',
    delivery: { maxDelayMs: 100 },
  });
  placard.subscribe((notice) => notices.push(notice));
  placard.mount('${placementId}', document.querySelector('#slot'), hero);`;

const open = async (page: TestPage): Promise<Page> => {
  pages.set('/odd', page);
  const opened = await browser.newPage();
  await opened.goto(`${pages.origin}/odd`);
  return opened;
};

test('shows and counts a placement called `__proto__`, and shows it again from the cache', async () => {
  service.setBanner('__proto__', buildBanner('__proto__', { headline: 'Summer sale' }));
  const page = await open({ html: SLOT, script: script('__proto__') });
  await page.getByText('Summer sale').waitFor();
  await expect.poll(() => service.events.map(({ type }) => type)).toEqual(['impression']);
  service.fail({ type: 'status', status: 503 });
  await page.reload();
  await page.getByText('Summer sale').waitFor();
  const shown = await page.evaluate(() => notices.filter((notice) => notice.type === 'shown'));
  expect(shown).toMatchObject([{ from: 'cache' }]);
  await page.close();
});

test('resolves the path of a banner on the page’s own site under a foreign <base>', async () => {
  service.setBanner('home_hero', buildBanner('home_hero', { headline: 'Summer sale', link: '/sale' }));
  pages.set('/sale', { html: 'The sale of this site' });
  const page = await open({
    html: SLOT,
    // Not in the page's HTML: the test's script is loaded by path.
    script: `${script()}
      document.head.insertAdjacentHTML('afterbegin', '<base href="https://cdn.invalid/assets/">');`,
  });
  await page.getByText('Summer sale').click();
  await page.getByText('The sale of this site').waitFor();
  expect(page.url()).toBe(`${pages.origin}/sale`);
  await page.close();
});

test('a sandboxed page without IndexedDB gets one notice', async () => {
  service.setBanner('home_hero', buildBanner('home_hero', { headline: 'Summer sale' }));
  const page = await open({
    html: SLOT,
    script: script(),
    headers: { 'content-security-policy': 'sandbox allow-scripts' },
  });
  await page.getByText('Summer sale').waitFor();
  await expect.poll(() => service.events.map(({ type }) => type)).toEqual(['impression']);
  const failures = await page.evaluate(() => notices.filter((notice) => notice.type === 'failed'));
  expect(failures).toMatchObject([{ kind: 'storage' }]);
  await page.close();
});

test('case 75: removes a banner dismissed inside a view transition and counts it once', async () => {
  service.setBanner('home_hero', buildBanner('home_hero', { headline: 'Summer sale' }));
  const page = await open({ html: SLOT, script: script() });
  await page.getByText('Summer sale').waitFor();
  await expect.poll(() => service.events.length).toBe(1);
  // The browser paints nothing until the callback ends: a dismissal that waits for a frame would abort the transition.
  const outcome = await page.evaluate(async () => {
    const transition = document.startViewTransition(() =>
      placard.track(placard.banner('home_hero')!, 'dismiss').then(() => placard.flush()),
    );
    return Promise.all([transition.updateCallbackDone, transition.ready, transition.finished]).then(
      () => 'finished',
      String,
    );
  });
  expect(outcome).toBe('finished');
  expect(await page.getByText('Summer sale').count()).toBe(0);
  expect(service.events.map(({ type }) => type)).toEqual(['impression', 'dismiss']);
  await page.close();
});

test('removes all listeners of a page that has shown a thousand placements', async () => {
  const page = await open({ html: SLOT, script: script() });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const listeners = async () => {
    await cdp.send('HeapProfiler.collectGarbage');
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'JSEventListeners')!.value;
  };
  const syncs = () => service.requests.filter(({ path }) => path.endsWith('/sync')).length;
  await expect.poll(syncs).toBe(1);
  await page.evaluate(() => placard.flush());
  const before = await listeners();
  const showAll = () =>
    page.evaluate(async () => {
      const unmounts = Array.from({ length: 1_000 }, (_, at) => {
        const slot = document.body.appendChild(document.createElement('div'));
        return placard.mount(`placement-${at}`, slot, () => undefined);
      });
      await placard.refresh();
      for (const unmount of unmounts) unmount();
    });
  await showAll();
  expect(syncs()).toBeGreaterThan(100);
  await page.evaluate(() => placard.flush());
  // Removed nodes may be garbage-collected a little later.
  await expect.poll(listeners).toBeLessThanOrEqual(before);
  await page.close();
});
