import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { patience } from '../helpers/patience.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { watchPage } from '../helpers/watch-page.ts';

let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  demo = await runDemo();
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

interface Visit {
  page: Page;
  complaints: string[];
  close(): Promise<void>;
}

/** Addresses, and what their screens begin with. */
const SCREENS = [
  ['#/', '.home'],
  ['#/product/teapot', '.product'],
  ['#/cart', '.checkout-page'],
] as const;

/** Not in the DOM types yet. */
interface LayoutShift {
  value: number;
  sources: { node: Node | null }[];
}

/** A visitor with a browser profile of their own. */
const visit = async (path = '/', { as = 'mira', width = 1280 } = {}): Promise<Visit> => {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  const complaints = await watchPage(page);
  await page.addInitScript((choice) => {
    if (localStorage.getItem('fern-and-kiln:visitor') !== null) return;
    const userId = choice === 'new' ? `visitor-${crypto.randomUUID().slice(0, 8)}` : choice;
    localStorage.setItem('fern-and-kiln:visitor', JSON.stringify({ choice, userId }));
  }, as);
  await page.goto(demo.url + path);
  return { page, complaints, close: () => context.close() };
};

/** A tab of the devtools, behind the counter. */
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
const status = async (page: Page, text: string, options = {}) => {
  await tab(page, 'Events');
  await page.locator('.standing').getByText(text).waitFor(options);
};
const log = async (page: Page, notice: string, text: string | RegExp = /./) => {
  await tab(page, 'Log');
  await page.locator(`[data-notice="${notice}"]`).getByText(text).first().waitFor();
};
/** Something to deliver: the hero has no control group, so everybody has one to send away. */
const dismissHero = (page: Page) =>
  page.locator('[data-placement="home_hero"]').getByRole('button', { name: 'Dismiss' }).click();
const countersHold = (page: Page) => page.locator('.counters').getAttribute('data-holds');

describe('the shop', () => {
  test('shows its placements, counts what was seen, and has nothing to complain about', async () => {
    const { page, complaints, close } = await visit();
    await page.getByRole('region', { name: 'Fresh from the kiln, Mira' }).waitFor();
    await status(page, 'Everything is delivered.');
    expect(await countersHold(page)).toBe('true');
    expect(complaints).toEqual([]);
    await close();
  });

  test('has a strip whose place only the workspace file names, on every screen', async () => {
    const { page, complaints, close } = await visit();
    const place = page.locator('footer [data-placard-placement="foot_strip"]');
    const strip = place.getByRole('region', { name: 'Throw a pot on Saturdays' });
    await strip.waitFor();
    for (const [hash, screen] of SCREENS) {
      await page.evaluate((to) => location.assign(to), hash);
      await page.locator(screen).waitFor();
      await strip.waitFor();
    }
    expect(complaints).toEqual([]);
    await close();
  });

  test('greets each visitor in their own words, right to left where they read so', async () => {
    const { page, close } = await visit('/', { as: 'jonas' });
    await page.getByRole('region', { name: 'Jonas, you see it first' }).waitFor();
    await page.getByLabel('Seen as').selectOption('layla');
    const arabic = page.getByRole('region', { name: 'أهلاً ليلى' });
    await arabic.waitFor();
    expect(await arabic.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
    await close();
  });

  test('keeps events on the device while there is no network, and delivers them afterwards', async () => {
    const { page, close } = await visit('/', { as: 'new' });
    await status(page, 'Everything is delivered.');
    await page.getByRole('switch', { name: 'No network' }).click();
    await dismissHero(page);
    await log(page, 'waiting');
    await status(page, 'One event waits on this device.');
    await page.reload();
    // The switches are the page's, so a reload sets them back: what waited goes when its time has come.
    await status(page, 'Everything is delivered.', { timeout: patience(90_000) });
    expect(await countersHold(page)).toBe('true');
    await close();
  });

  test.each([
    ['Service down', 'the last attempt failed'],
    ['Too many requests', 'the service asked for patience'],
  ])('waits when the switch says “%s”, and says why', async (name, reason) => {
    const { page, close } = await visit('/', { as: 'new' });
    await page.locator('placard-frame').first().waitFor();
    await page.getByRole('switch', { name }).click();
    await dismissHero(page);
    await log(page, 'waiting', reason);
    await status(page, 'on this device');
    await page.getByRole('switch', { name }).click();
    await status(page, 'Everything is delivered.', { timeout: patience(30_000) });
    await close();
  });

  test('sends an event again that the service skipped', async () => {
    const { page, close } = await visit('/', { as: 'new' });
    await page.locator('placard-frame').first().waitFor();
    await page.getByRole('switch', { name: 'One bad event' }).click();
    await dismissHero(page);
    await log(page, 'skipped', 'It goes again, one attempt older');
    await status(page, 'Everything is delivered.', { timeout: patience(30_000) });
    expect(await page.getByRole('switch', { name: 'One bad event' }).getAttribute('aria-checked')).toBe(
      'false',
    );
    expect(await countersHold(page)).toBe('true');
    await close();
  });

  test('shows a campaign that waits for what somebody did, once they did it', async () => {
    const { page, close } = await visit('/', { as: 'new' });
    for (const product of ['Rain teapot', 'Harbour mug', 'Reed vase']) {
      await page
        .getByRole('link', { name: '← All pots' })
        .or(page.getByRole('link', { name: 'Fern & Kiln' }))
        .first()
        .click();
      await page.getByRole('link', { name: product }).click();
      await page.getByRole('heading', { name: product, level: 1 }).waitFor();
    }
    // Nothing is swapped under the reader's eyes, so the way back begins when the answer is there.
    await page.locator('placard-devtools').getByText('Cups for your teapot').first().waitFor();
    await page.getByRole('link', { name: '← All pots' }).click();
    await page.getByRole('region', { name: 'Cups for your teapot' }).waitFor();
    await close();
  });

  test('takes an order from the shelf to the thanks', async () => {
    const { page, complaints, close } = await visit('/', { as: 'new' });
    await page.getByRole('button', { name: 'Add to cart: Low bowl' }).click();
    await page.getByRole('link', { name: 'Cart, 1 thing' }).click();
    const more = page.getByRole('button', { name: 'One more' });
    await more.click();
    expect(await more.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.getByRole('region', { name: 'Total' }).getByText('€64').first().waitFor();
    await page.getByRole('button', { name: 'Place the order' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('shows nothing and asks for nothing while nobody is signed in', async () => {
    const { page, close } = await visit('/', { as: '' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.reload();
    await page.getByRole('heading', { name: 'From this week’s kiln' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('region').count()).toBe(1);
    expect(asked.filter((url) => url.includes('/banners/'))).toEqual([]);
    await close();
  });

  test.each([360, 768, 1280])('fits a window of %i pixels', async (width) => {
    const { page, close } = await visit('/', { width });
    await page.getByRole('region', { name: 'Fresh from the kiln, Mira' }).waitFor();
    for (const [path, screen] of SCREENS) {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, path);
      await page.locator(screen).waitFor();
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wider).toBeLessThanOrEqual(0);
    }
    await close();
  });

  test('case 57: moves nothing on the page when its banners come', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Reflect.set(window, 'shifts', shifts);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & LayoutShift)[]) {
          // A new line in the log pushes the older ones down; that is what a log is for.
          if (entry.sources.some(({ node }) => node?.parentElement?.closest('.shop')))
            shifts.push(entry.value);
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(demo.url);
    await page.getByRole('region', { name: 'Fresh from the kiln, Mira' }).waitFor();
    await page.waitForLoadState('networkidle');
    const shifts = (await page.evaluate(() => Reflect.get(window, 'shifts'))) as number[];
    expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBe(0);
    await context.close();
  });
});

describe("the demo's server", () => {
  test('puts the server key into no file that a browser gets', async () => {
    for (const entry of await readdir(demo.folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      expect(text.includes('demo-server-key'), entry.name).toBe(false);
    }
    const studio = await (await fetch(`${demo.url}/demo/studio`)).text();
    expect(studio).not.toMatch(/demo-(server|client)-key|key_sha256/);
  });

  test.each([
    ['from another site', { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }, 403],
    ['as a form', { 'content-type': 'text/plain' }, 403],
    ['that makes no sense', { 'content-type': 'application/json' }, 400],
  ])('refuses an act %s', async (_, headers, expected) => {
    const body = expected === 400 ? '{"userId":"mira","deed":"admin","items":[]}' : '{}';
    const response = await fetch(`${demo.url}/demo/act`, { method: 'POST', headers, body });
    expect(response.status).toBe(expected);
  });

  test('serves its pages with a policy and finds nothing outside of them', async () => {
    const page = await fetch(`${demo.url}/`);
    expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    for (const path of ['/..%2f..%2fpackage.json', '/assets/', '/server/keys.ts', '/workspace.json']) {
      expect((await fetch(demo.url + path)).status, path).toBe(404);
    }
  });
});
