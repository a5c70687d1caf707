import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

/** `draw(template, values)` puts a template into the page without the client: nothing but its looks matters here. */
const SCRIPT = `
  import { createTemplates } from '/placard/templates.js';
  const templates = createTemplates();
  globalThis.reports = [];
  globalThis.draw = async (template, values) => {
    const element = document.querySelector('#slot');
    element.className = template;
    element.replaceChildren();
    const properties = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { type: name === 'image' ? 'image' : 'string', value }]));
    const idle = async () => undefined;
    const slot = {
      element, placementId: 'home', signal: new AbortController().signal, click: idle, dismiss: idle, safeUrl: String,
      report: (kind) => reports.push(kind),
    };
    return templates[template]({ id: 'bnr', placementId: 'home', properties }, slot);
  };
  document.body.dataset.ready = '';
`;
const BOXES = `<style>
  body { margin: 0 }
  .hero { min-block-size: 22rem }
  .card { min-block-size: 21.5rem; max-inline-size: 20rem }
  .strip { min-block-size: 4rem }
</style>`;
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><rect width="16" height="9" fill="red"/></svg>';
const WORDS = {
  headline: 'Autumn linen',
  body: 'Washed, cut to order.',
  button_text: 'See the linen',
  link: '/linen',
};

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  const page = { head: BOXES, html: '<div id="slot"></div><p id="below">Below</p>', script: SCRIPT };
  pages = await startPageServer({ entries: ['templates'], pages: { '/looks': page } });
  pages.file('/picture.svg', PICTURE, { 'content-type': 'image/svg+xml' });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (width: number): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(`${pages.origin}/looks`);
  await page.locator('body[data-ready]').waitFor({ state: 'attached' });
  return page;
};

type Draw = (template: string, values: Record<string, string>) => Promise<unknown>;
const draw = (page: Page, template: string, values: Record<string, string>) =>
  page.evaluate(([name, drawn]) => void (Reflect.get(globalThis, 'draw') as Draw)(name, drawn), [
    template,
    values,
  ] as const);
const boxOf = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())!;

describe.each(['strip', 'card', 'hero'])('a %s', (template) => {
  test.each([360, 1280])('that is a picture alone fills its box with it, at %i pixels', async (width) => {
    const page = await open(width);
    await draw(page, template, { image: '/picture.svg', link: '/linen' });
    const panel = await boxOf(page, 'placard-frame .panel');
    const picture = await boxOf(page, 'placard-frame .picture');
    expect(picture.width).toBeGreaterThanOrEqual(panel.width - 2);
    expect(picture.height).toBeGreaterThanOrEqual(panel.height - 2);
    await page.close();
  });

  test.each([360, 1280])(
    'has no hole where its picture is missing, and nothing below it moves, at %i pixels',
    async (width) => {
      const page = await open(width);
      // Held, so that the page can be looked at before it is known that there is none.
      const held = Promise.withResolvers<void>();
      await page.route('**/gone.png', async (route) => {
        await held.promise;
        await route.abort();
      });
      await draw(page, template, { ...WORDS, image: '/gone.png' });
      const before = await boxOf(page, '#below');
      held.resolve();
      await page.locator('placard-frame .picture').waitFor({ state: 'detached' });
      expect(await boxOf(page, '#below')).toEqual(before);
      expect(await page.evaluate('reports')).toEqual(['image']);
      // The words have the whole width of the banner.
      const panel = await boxOf(page, 'placard-frame .panel');
      const content = await boxOf(page, 'placard-frame .content');
      const beside = template === 'strip' ? 100 : 2;
      expect(content.width).toBeGreaterThanOrEqual(panel.width - beside);
      await page.close();
    },
  );

  test.each([360, 768, 1280])('shows all of its text, at %i pixels', async (width) => {
    const page = await open(width);
    await draw(page, template, {
      ...WORDS,
      headline: 'Linen '.repeat(25),
      body: 'Washed and cut. '.repeat(29),
    });
    const cut = await page
      .locator('placard-frame :is(.headline, .body)')
      .evaluateAll((texts) => texts.filter((text) => text.scrollHeight > text.clientHeight + 1).length);
    expect(cut).toBe(0);
    const panel = page.locator('placard-frame .panel');
    expect(await panel.evaluate((each) => each.scrollHeight - each.clientHeight)).toBe(0);
    await page.close();
  });

  test('has targets of 44 pixels for a finger', async () => {
    const page = await open(360);
    await draw(page, template, { ...WORDS, image: '/picture.svg' });
    const heights = await page
      .locator('placard-frame :is(.action, .dismiss)')
      .evaluateAll((targets) => targets.map((target) => target.getBoundingClientRect().height));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    await page.close();
  });

  test('with text of twice the size keeps its words whole and its page narrow', async () => {
    const page = await open(360);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await draw(page, template, { ...WORDS, image: '/picture.svg' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    // A column narrower than a few words would break each of them.
    expect((await boxOf(page, 'placard-frame .words')).width).toBeGreaterThan(200);
    await page.close();
  });
});
