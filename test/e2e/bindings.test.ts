import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { patience } from '../helpers/patience.ts';
// Lists the pages for the unused-file check, because they are served and not imported.
import type {} from './pages/element-page.ts';
import type { Told } from './pages/local-placard.ts';
import type {} from './pages/react-page.ts';
import type {} from './pages/react-render-page.ts';
import type {} from './pages/vue-page.ts';

const STRICT =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'none'; img-src data:; require-trusted-types-for 'script'";
const ELEMENT = `
  <main><placard-banner placement="home_hero" template="hero"></placard-banner></main>
  <aside></aside>
  <template id="shadowed"></template>`;

/** Timeout for slow machines: one second can take three. */
const PATIENCE = { timeout: patience(20_000) };

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  pages = await startPageServer({
    entries: [],
    modules: {
      element: 'test/e2e/pages/element-page.ts',
      react: 'test/e2e/pages/react-page.ts',
      'react-render': 'test/e2e/pages/react-render-page.ts',
      vue: 'test/e2e/pages/vue-page.ts',
    },
    pages: {
      '/element': {
        html: ELEMENT,
        script: "import '/placard/element.js';",
        headers: { 'content-security-policy': STRICT },
      },
      '/react': { html: '<div id="root"></div>', script: "import '/placard/react.js';" },
      '/vue': {
        html: '<div id="root"></div>',
        script: "import '/placard/vue.js';",
        headers: { 'content-security-policy': STRICT },
      },
      '/react-render': { html: '<div id="root"></div>', script: "import '/placard/react-render.js';" },
    },
  });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (path: string) => {
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(pages.origin + path);
  return { page, errors, close: () => context.close() };
};

const told = (page: Page): Promise<Told> => page.evaluate(() => Reflect.get(window, 'told'));
const impressions = async (page: Page, placementId: string) =>
  (await told(page)).notices.filter(
    (notice) =>
      notice.type === 'tracked' &&
      notice.event.type === 'impression' &&
      notice.event.placementId === placementId,
  ).length;

describe('<placard-banner> in a real page', () => {
  test('renders as a block under a strict policy if the markup precedes the client', async () => {
    const { page, errors, close } = await open('/element');
    const element = page.locator('placard-banner');
    await page.getByRole('region', { name: 'For home_hero' }).waitFor();
    expect(await element.evaluate((each) => getComputedStyle(each).display)).toBe('block');
    expect(errors).toEqual([]);
    await close();
  });

  test('renders again with its styles when it moves into the document of a frame', async () => {
    const { page, errors, close } = await open('/element');
    await page.getByRole('region', { name: 'For home_hero' }).waitFor();
    const sheets = await page.evaluate(async () => {
      const element = document.querySelector('placard-banner')!;
      const drawn = () => element.querySelector('placard-frame')!.shadowRoot!.adoptedStyleSheets.length;
      const before = drawn();
      const frame = document.createElement('iframe');
      document.body.append(frame);
      frame.contentDocument!.body.append(element);
      // The element batches its changes in a microtask.
      await Promise.resolve();
      return { before, after: drawn() };
    });
    expect(sheets.before).toBeGreaterThan(0);
    expect(sheets.after).toBe(sheets.before);
    expect(errors).toEqual([]);
    await close();
  });

  test('case 65: does not render, request or count again when it moves', async () => {
    const { page, close } = await open('/element');
    await expect.poll(() => impressions(page, 'home_hero'), PATIENCE).toBe(1);
    await page.locator('placard-frame').evaluate((frame) => Reflect.set(window, 'before', frame));
    const moves = await page.evaluate(() => {
      const element = document.querySelector('placard-banner')!;
      const places = ['aside', 'main', 'body'].map((name) => document.querySelector(name)!);
      for (const place of places) place.append(element);
      const move = Reflect.get(document.body, 'moveBefore') as
        | ((node: Node, before: null) => void)
        | undefined;
      move?.call(document.querySelector('main'), element, null);
      return places.length + (move ? 1 : 0);
    });
    expect(moves).toBeGreaterThanOrEqual(3);
    const { syncs } = await told(page);
    expect(syncs).toBe(1);
    expect(
      await page.locator('placard-frame').evaluate((frame) => frame === Reflect.get(window, 'before')),
    ).toBe(true);
    expect((await told(page)).notices.filter(({ type }) => type === 'shown')).toHaveLength(1);
    expect(await impressions(page, 'home_hero')).toBe(1);
    await close();
  });

  test('case 62: renders as a block and counts inside the shadow root of another component', async () => {
    const { page, close } = await open('/element');
    await page.evaluate(() => {
      const root = document.querySelector('aside')!.attachShadow({ mode: 'open' });
      const element = document.createElement('placard-banner');
      element.setAttribute('placement', 'inside');
      root.append(element);
    });
    const element = page.locator('aside placard-banner');
    await page.getByRole('region', { name: 'For inside' }).waitFor();
    expect(await element.evaluate((each) => getComputedStyle(each).display)).toBe('block');
    await element.scrollIntoViewIfNeeded();
    await expect.poll(() => impressions(page, 'inside'), PATIENCE).toBe(1);
    await close();
  });

  test('leaves no nodes or listeners in the page after a thousand mounts and unmounts', async () => {
    const { page, close } = await open('/element');
    await page.getByRole('region', { name: 'For home_hero' }).waitFor();
    const left = await page.evaluate(async () => {
      for (let index = 0; index < 1_000; index += 1) {
        const element = document.createElement('placard-banner');
        element.setAttribute('placement', 'home_hero');
        document.body.append(element);
        await Promise.resolve();
        element.remove();
        await Promise.resolve();
      }
      return {
        elements: document.querySelectorAll('placard-banner, placard-frame').length,
        sheets: document.adoptedStyleSheets.length,
      };
    });
    expect(left).toEqual({ elements: 2, sheets: 1 });
    await close();
  });
});

describe('React in a real page', () => {
  test('case 61: counts one impression with StrictMode and a hidden second layout', async () => {
    const { page, errors, close } = await open('/react');
    await page.locator('#wide').getByText('For home_hero').waitFor();
    await page.getByText('known: bnr_home_hero').waitFor();
    await expect.poll(() => impressions(page, 'home_hero'), PATIENCE).toBe(1);
    await expect.poll(() => impressions(page, 'drawn_in_react'), PATIENCE).toBe(1);
    expect(await impressions(page, 'home_hero')).toBe(1);
    expect(errors).toEqual([]);
    await close();
  });

  test('dismisses a banner that React renders, and React removes its nodes', async () => {
    const { page, errors, close } = await open('/react');
    await page.getByRole('button', { name: 'Hide For drawn_in_react' }).click();
    await expect.poll(() => page.locator('#own').evaluate((own) => own.childNodes.length), PATIENCE).toBe(0);
    const dismissals = async () =>
      (await told(page)).notices.filter(
        (notice) => notice.type === 'tracked' && notice.event.type === 'dismiss',
      ).length;
    // The banner disappears at once, and its notice follows when it is stored.
    await expect.poll(dismissals, PATIENCE).toBe(1);
    expect(errors).toEqual([]);
    await close();
  });

  test('keeps the page if content suspends or throws, and counts it once when it is rendered', async () => {
    const { page, errors, close } = await open('/react-render');
    await page.getByText('For drawn').waitFor();
    // All three have a box in view: by the time this one is counted, the others would be, too.
    await expect.poll(() => impressions(page, 'drawn'), PATIENCE).toBe(1);
    expect(await page.getByRole('heading').textContent()).toBe('Shop');
    expect(await page.locator('#loaded').evaluate(({ clientHeight }) => clientHeight)).toBe(100);
    const { notices } = await told(page);
    expect(notices.filter(({ type }) => type === 'shown')).toHaveLength(3);
    expect(
      notices.flatMap((notice) => (notice.type === 'failed' ? [notice.kind, notice.message] : [])),
    ).toEqual(['hook', 'The hook of "throwing" threw']);
    expect(await impressions(page, 'loaded')).toBe(0);
    await page.evaluate(() => Reflect.get(window, 'load')());
    await page.getByText('For loaded').waitFor();
    await expect.poll(() => impressions(page, 'loaded'), PATIENCE).toBe(1);
    expect(await impressions(page, 'throwing')).toBe(0);
    expect(errors).toEqual([]);
    await close();
  });
});

describe('Vue in a real page, under a strict policy', () => {
  test('case 61: counts one impression with a hidden second layout, and updates composables', async () => {
    const { page, errors, close } = await open('/vue');
    await page.locator('#wide').getByText('For home_hero').waitFor();
    await page.getByText('known: bnr_home_hero').waitFor();
    await expect.poll(() => impressions(page, 'home_hero'), PATIENCE).toBe(1);
    await expect.poll(() => impressions(page, 'drawn_in_vue'), PATIENCE).toBe(1);
    expect(await impressions(page, 'home_hero')).toBe(1);
    expect(errors).toEqual([]);
    await close();
  });

  test('restores a banner that Vue renders from the cache, dismisses it, and Vue removes its nodes', async () => {
    const { page, errors, close } = await open('/vue');
    await page.getByRole('button', { name: 'Hide For drawn_in_vue' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Hide For drawn_in_vue' }).click();
    await expect.poll(() => page.locator('#own').evaluate((own) => own.children.length), PATIENCE).toBe(0);
    const dismissals = async () =>
      (await told(page)).notices.filter(
        (notice) => notice.type === 'tracked' && notice.event.type === 'dismiss',
      ).length;
    await expect.poll(dismissals, PATIENCE).toBe(1);
    expect(errors).toEqual([]);
    await close();
  });
});
