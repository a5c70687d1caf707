import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notice, Placard } from '../../src/client/index.ts';
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { watchPage } from '../helpers/watch-page.ts';
// Lists the page for the unused-file check, because it is served and not imported.
import type {} from './pages/devtools-page.ts';

/** The strictest policy that the client supports. */
const STRICT =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'none'; img-src data:; require-trusted-types-for 'script'";
/** A constructed stylesheet needs no style-src: the page uses one, as the devtools do. */
const SCRIPT = `
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':root { color-scheme: light dark } main { display: grid; gap: 1rem } #home_hero { min-height: 200px } .gap { height: 1500px }');
  document.adoptedStyleSheets = [sheet];
  await import('/placard/devtools-page.js');`;

interface PageGlobals {
  placard: Placard;
  notices: Notice[];
  asked: { path: string; body: { events?: { event_type: string; id: string }[] } }[];
  close: () => void;
}

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  const page = {
    html: '<main><h1>A page</h1></main>',
    script: SCRIPT,
    headers: { 'content-security-policy': STRICT },
  };
  pages = await startPageServer({
    entries: [],
    modules: { 'devtools-page': 'test/e2e/pages/devtools-page.ts' },
    pages: { '/page': page, '/next': page },
  });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (path = '/page', options: BrowserContextOptions = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = await watchPage(page);
  await page.goto(pages.origin + path);
  await page.waitForFunction(() => 'placard' in window);
  return { page, complaints, close: () => context.close() };
};

const devtools = (page: Page) => page.getByRole('region', { name: 'Placard devtools' });
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
const card = (page: Page, placementId: string) =>
  page.locator('.card').filter({ has: page.locator('.placement').getByText(placementId, { exact: true }) });
const titled = (page: Page, placementId: string, title: string) =>
  card(page, placementId).locator('.chip').getByText(title, { exact: true }).waitFor();
const globals = <T>(page: Page, read: (globals: PageGlobals) => T) =>
  page.evaluate(`(${read})(window)`) as Promise<Awaited<T>>;
/** Sent events, once the outbox is empty. */
const sent = (page: Page): Promise<string[]> =>
  globals(page, async ({ placard, asked }) => {
    await placard.flush();
    return asked.flatMap(({ body }) => body.events ?? []).map(({ event_type, id }) => `${event_type} ${id}`);
  });
const box = async (page: Page) => (await devtools(page).boundingBox())!;

describe('the devtools on the strictest page', () => {
  test('show the state of every placement and the reason, without a violation', async () => {
    const { page, complaints, close } = await open();
    await globals(page, ({ placard }) => placard.refresh(['not_mounted']));
    for (const [placementId, title] of [
      ['home_hero', 'Seen'],
      ['held_out', 'Control group'],
      ['nobody', 'No banner'],
      ['misshapen', 'Invalid banner'],
      ['ending', 'Expired'],
      ['unknown', 'No response'],
      ['below', 'Not seen yet'],
      ['not_mounted', 'Not mounted'],
    ] as const)
      await titled(page, placementId, title);
    const order = await page.locator('.placement').allTextContents();
    expect(order).toEqual([
      ...['home_hero', 'held_out', 'nobody', 'misshapen', 'ending', 'unknown', 'below', 'not_mounted'],
    ]);
    await card(page, 'misshapen').getByText('headline: must not be empty').waitFor();
    await card(page, 'nobody').getByText('placard explain --user u-1 --placement nobody').waitFor();
    for (const name of ['Events', 'Log', 'Client']) await tab(page, name);
    expect(complaints).toEqual([]);
    await close();
  });

  test('keep their styles in the document of a frame', async () => {
    const { page, complaints, close } = await open('/page?frame');
    const panel = page.frameLocator('iframe').locator('.embedded');
    expect(await panel.evaluate((element) => getComputedStyle(element).display)).toBe('flex');
    expect(complaints).toEqual([]);
    await close();
  });

  test('follow a banner into view, to its impression', async () => {
    const { page, close } = await open();
    await titled(page, 'below', 'Not seen yet');
    await card(page, 'below').getByText('Out of view. Scroll to it.').waitFor();
    await card(page, 'below').getByRole('button', { name: 'Find below' }).click();
    await titled(page, 'below', 'Seen');
    expect(await card(page, 'below').getByRole('meter').getAttribute('aria-valuenow')).toBe('100');
    await close();
  });

  test('report that their own window covers a banner', async () => {
    const { page, close } = await open('/page', { viewport: { width: 380, height: 420 } });
    await card(page, 'home_hero').getByText('it may be this window').waitFor();
    await page.getByRole('button', { name: 'Minimize devtools' }).click();
    await page.getByRole('button', { name: /2 of 7 shown/ }).click();
    await close();
  });

  test('report a rendered banner without visible pixels', async () => {
    const { page, close } = await open('/page?unseen');
    await card(page, 'home_hero').getByText('Nothing in the slot is visible.').waitFor();
    await titled(page, 'home_hero', 'Not seen yet');
    await page.locator('#home_hero').evaluate((slot) => slot.style.removeProperty('opacity'));
    await titled(page, 'home_hero', 'Seen');
    await close();
  });

  test('report why requests fail, and the time of the next request', async () => {
    const { page, close } = await open('/page?fails');
    await titled(page, 'home_hero', 'No response');
    await card(page, 'home_hero')
      .getByText(/Next request in \d+\ss.*HTTP 429 from .*: Over rate limit/)
      .waitFor();
    await tab(page, 'Log');
    // The sync and the delivery may both be paused by now.
    await page.locator('[data-notice="paused"]').getByText('rate limited').first().waitFor();
    await close();
  });

  test('show the counters, the session and the last responses', async () => {
    const { page, close } = await open();
    await tab(page, 'Events');
    await page.getByText('All events delivered.').waitFor();
    expect(await page.locator('.counters').getAttribute('data-holds')).toBe('true');
    await tab(page, 'Client');
    await page.getByText('devtools-page, version 1.0.0').waitFor();
    await page.getByText(/in (29|30)\smin, unless the page is viewed/).waitFor();
    await tab(page, 'Log');
    await page.getByText(/Sync response: a banner for home_hero.*none for nobody/).waitFor();
    await close();
  });
});

describe('focus', () => {
  test('shows a dismissed banner in view without storing, sending or counting events', async () => {
    const { page, close } = await open();
    await titled(page, 'home_hero', 'Seen');
    await globals(page, ({ placard }) => placard.track(placard.banner('home_hero')!, 'dismiss'));
    await titled(page, 'home_hero', 'Dismissed');
    const words = page.locator('#home_hero').getByText('Words for home_hero');
    await words.waitFor({ state: 'detached' });
    const focus = page.getByRole('button', { name: 'Focus home_hero' });
    await focus.click();
    await words.waitFor();
    await titled(page, 'home_hero', 'Focused');
    await tab(page, 'Events');
    await page.locator('[data-taken="impression"]').getByText('impression in home_hero').waitFor();
    const events = await sent(page);
    expect(events.filter((event) => event.endsWith('home_hero'))).toEqual([
      'impression bnr_home_hero',
      'dismiss bnr_home_hero',
    ]);
    expect(await globals(page, async ({ placard }) => (await placard.diagnostics()).captured)).toBe(
      events.length,
    );

    await tab(page, 'Placements');
    await focus.click();
    await words.waitFor({ state: 'detached' });
    await titled(page, 'home_hero', 'Dismissed');
    await close();
  });

  test('shows an expired banner, and ends when its close button is pressed', async () => {
    const { page, close } = await open();
    await titled(page, 'ending', 'Expired');
    await page.getByRole('button', { name: 'Focus ending' }).click();
    await titled(page, 'ending', 'Focused');
    await page.locator('#ending').getByRole('button', { name: 'Dismiss' }).click();
    await titled(page, 'ending', 'Expired');
    expect((await sent(page)).filter((event) => event.startsWith('dismiss'))).toEqual([]);
    await close();
  });
});

describe('the sandbox', () => {
  test('accepts events without sending them, and restores the banners dismissed in it', async () => {
    const { page, close } = await open();
    // Everything in view is seen.
    await titled(page, 'home_hero', 'Seen');
    await titled(page, 'ending', 'Expired');
    await tab(page, 'Events');
    const sandbox = page.getByRole('switch', { name: 'Sandbox' });
    const before = (await sent(page)).length;
    await sandbox.click();
    await globals(page, async ({ placard }) => {
      await placard.track(placard.banner('home_hero')!, 'click');
      await placard.track(placard.banner('below')!, 'dismiss');
    });
    await page.locator('[data-taken="click"]').getByText('click in home_hero, not sent').waitFor();
    await devtools(page)
      .getByRole('button', { name: /Sandbox is on/ })
      .waitFor();
    await tab(page, 'Placements');
    await card(page, 'below').getByText('Restored when the sandbox ends.').waitFor();
    expect(await sent(page)).toHaveLength(before);
    expect(await globals(page, async ({ placard }) => (await placard.diagnostics()).captured)).toBe(before);

    await tab(page, 'Events');
    await sandbox.click();
    await tab(page, 'Placements');
    await titled(page, 'below', 'Not seen yet');
    await page.reload();
    await titled(page, 'below', 'Not seen yet');
    await close();
  });
});

describe('a selector for a placement', () => {
  /** A list of the shop on the page, and the number of clicks on its link. */
  const list = (page: Page) =>
    page.evaluate(() => {
      const main = document.querySelector('main')!;
      for (const [at, name] of ['Bags', 'Shoes', 'Hats'].entries()) {
        const item = document.createElement('section');
        item.className = `css-x${at}z81k`;
        const link = document.createElement('a');
        link.href = '#followed';
        link.textContent = name;
        link.addEventListener('click', () => Reflect.set(window, 'pressed', true));
        item.append(link);
        main.prepend(item);
      }
      main.querySelector('section:nth-of-type(2)')!.id = 'shoes-teaser';
      main.querySelector('section:nth-of-type(3)')!.setAttribute('data-teaser', 'bags');
    });
  const point = (page: Page) => page.getByRole('button', { name: 'Pick element' });
  const selector = (page: Page) => page.getByRole('textbox', { name: 'Selector' });

  test.each([
    ['Shoes', '#shoes-teaser a'],
    ['Bags', '[data-teaser="bags"] > a'],
    ['Hats', null],
  ])('is selected by pointing at an element without clicking the page: %s', async (name, expected) => {
    const { page, complaints, close } = await open();
    await list(page);
    await tab(page, 'Selector');
    await point(page).click();
    const link = page.getByRole('link', { name });
    await link.hover();
    await page.locator('.outline').getByText('a', { exact: true }).waitFor();
    await link.click();
    await page.getByText('One match.').waitFor();
    const found = await selector(page).inputValue();
    if (expected) expect(found.replace(' > ', ' ')).toBe(expected.replace(' > ', ' '));
    expect(await page.evaluate((each) => document.querySelector(each)?.textContent, found)).toBe(name);
    expect(await page.evaluate(() => [location.hash, Reflect.get(window, 'pressed')])).toEqual([
      '',
      undefined,
    ]);

    await page.getByLabel('Insert').selectOption('prepend');
    const lines = await page.locator('pre').textContent();
    expect(JSON.parse(`{${lines}}`)).toEqual({ selector: found, insert: 'prepend', paths: ['/page'] });

    // The page is interactive again.
    await link.click();
    expect(await page.evaluate(() => [location.hash, Reflect.get(window, 'pressed')])).toEqual([
      '#followed',
      true,
    ]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('is validated during typing, and picking ends with Escape, another tab and the devtools', async () => {
    const { page, close } = await open();
    await list(page);
    await tab(page, 'Selector');
    for (const [typed, words] of [
      ['section', '3 matches; the first is used.'],
      ['#nothing', 'No matches on this page.'],
      ['a[', 'Invalid selector.'],
      ['h1', 'One match.'],
    ] as const) {
      await selector(page).fill(typed);
      await page.getByText(words).waitFor();
    }
    const followed = async () => {
      await page.getByRole('link', { name: 'Hats' }).click();
      await expect.poll(() => page.evaluate(() => location.hash)).toBe('#followed');
      await page.evaluate(() => location.replace('#'));
    };
    await point(page).click();
    await page.keyboard.press('Escape');
    await point(page).waitFor();
    await followed();
    await point(page).click();
    await tab(page, 'Client');
    await followed();
    await tab(page, 'Selector');
    await point(page).click();
    await globals(page, (all) => all.close());
    await followed();
    await close();
  });
});

describe('the window', () => {
  test('moves with the keyboard, stays in the page, and keeps its position on the next page', async () => {
    const { page, close } = await open();
    const handle = page.getByRole('button', { name: /Placard.*to move/ });
    const began = await box(page);
    await handle.focus();
    for (const key of ['ArrowLeft', 'ArrowUp', 'Shift+ArrowLeft']) await page.keyboard.press(key);
    const moved = await box(page);
    expect([began.x - moved.x, began.y - moved.y]).toEqual([80, 16]);
    await page.goto(`${pages.origin}/next`);
    expect(await box(page)).toEqual(moved);
    await page.setViewportSize({ width: 360, height: 640 });
    await expect.poll(async () => (await box(page)).x).toBeGreaterThanOrEqual(0);
    await handle.focus();
    for (let step = 0; step < 20; step += 1) await page.keyboard.press('Shift+ArrowUp');
    const { x, y, width, height } = await box(page);
    expect(x + width).toBeLessThanOrEqual(360);
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(640);
    await close();
  });

  test('moves with the pointer', async () => {
    const { page, close } = await open();
    const began = await box(page);
    await page.mouse.move(began.x + 120, began.y + 20);
    await page.mouse.down();
    await page.mouse.move(began.x - 100, began.y - 80, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(0, 0);
    const moved = await box(page);
    expect([began.x - moved.x, began.y - moved.y]).toEqual([220, 100]);
    await close();
  });

  test('works with the keyboard only: tabs, a card, collapse and expand', async () => {
    const { page, close } = await open();
    await titled(page, 'ending', 'Expired');
    await page.getByRole('tab', { name: 'Placements' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { name: 'Events' }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Focus ending' }).focus();
    await page.keyboard.press('Enter');
    await titled(page, 'ending', 'Focused');
    // The panel is updated all the time, and the focus stays in place.
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent))
      .toBe('Focus');
    await page.keyboard.press('Escape');
    const small = page.getByRole('button', { name: /Placard.*open the devtools/ });
    await small.waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Placements' }).waitFor();
    await close();
  });

  test('opens by the URL if the host allows it, and closes for the tab', async () => {
    const before = pages.requests.length;
    const { page, close } = await open('/page?ask');
    expect(await page.locator('placard-devtools').count()).toBe(0);
    expect(pages.requests.slice(before).filter((path) => /panel|inspector/.test(path))).toEqual([]);
    await page.goto(`${pages.origin}/page?ask&placard-devtools`);
    await devtools(page).waitFor();
    await page.goto(`${pages.origin}/next?ask`);
    await page.getByRole('button', { name: 'Close devtools' }).click();
    await page.goto(`${pages.origin}/page?ask`);
    await page.waitForFunction(() => 'placard' in window);
    expect(await page.locator('placard-devtools').count()).toBe(0);
    await close();
  });

  test('leaves no nodes behind when it is closed', async () => {
    const { page, close } = await open();
    await devtools(page).waitFor();
    await globals(page, (all) => all.close());
    expect(await page.locator('placard-devtools').count()).toBe(0);
    await close();
  });
});

test.each([
  { width: 360, colorScheme: 'dark', forcedColors: 'none' },
  { width: 1280, colorScheme: 'light', forcedColors: 'none' },
  { width: 1280, colorScheme: 'dark', forcedColors: 'active' },
] as const)(
  'has no axe violations at $width pixels, $colorScheme, forced colors $forcedColors',
  async ({ width, ...look }) => {
    // axe is an external script, which the page's policy would block.
    const { page, close } = await open('/page', { viewport: { width, height: 800 }, bypassCSP: true });
    await titled(page, 'ending', 'Expired');
    await page.emulateMedia(look);
    for (const name of ['Events', 'Log', 'Client', 'Selector', 'Placements']) {
      await tab(page, name);
      expect(await axeProblems(page), name).toEqual([]);
    }
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider).toBeLessThanOrEqual(0);
    await close();
  },
);
