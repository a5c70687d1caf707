import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

/** `draw(template, words)` puts a template into the page without the client: nothing but its looks matters here. */
const SCRIPT = `
  import { createTemplates } from '/placard/templates.js';
  const templates = createTemplates();
  window.draw = (template, words) => {
    const element = document.querySelector('#slot');
    element.replaceChildren();
    const text = { type: 'string', value: words };
    const banner = { id: 'bnr', placementId: 'place', properties: { headline: text, body: text } };
    const idle = async () => undefined;
    const slot = { element, placementId: 'place', signal: new AbortController().signal, click: idle, dismiss: idle, safeUrl: String };
    templates[template](banner, slot);
  };
  document.body.dataset.ready = '';
`;

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  const page = { html: '<div id="slot"></div>', script: SCRIPT };
  pages = await startPageServer({ entries: ['templates'], pages: { '/ink': page } });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (width: number) => {
  const context = await browser.newContext({ viewport: { width, height: 700 }, deviceScaleFactor: 2 });
  const page = await context.newPage();
  await page.goto(`${pages.origin}/ink`);
  await page.locator('body[data-ready]').waitFor({ state: 'attached' });
  return { page, close: () => context.close() };
};

const draw = (page: Page, template: string, words: string) =>
  page.evaluate(
    ([name, text]) => (Reflect.get(window, 'draw') as (name: string, text: string) => void)(name, text),
    [template, words] as const,
  );

/** The texts as they would be if nothing were cut off. */
const cutNothing = (page: Page) =>
  page.locator('placard-frame').evaluate((frame) => {
    for (const text of frame.shadowRoot!.querySelectorAll<HTMLElement>('.headline, .body'))
      text.style.setProperty('overflow', 'visible');
  });

describe.each(['strip', 'card', 'hero'])('a %s', (template) => {
  test.each([
    ['Arabic', 'أهلاً ليلى، آنيةٌ جديدةٌ'],
    ['Vietnamese', 'ẾẪỔ ẰỮ ỆỰ Ngọc'],
    ['English', 'Ångström jumps quickly'],
  ])('draws all the ink of %s letters, with their marks', async (_, words) => {
    for (const width of [360, 1280]) {
      const { page, close } = await open(width);
      await draw(page, template, words);
      const drawn = await page.screenshot();
      await cutNothing(page);
      const whole = await page.screenshot();
      expect(drawn.equals(whole), `${width} pixels wide`).toBe(true);
      await close();
    }
  });
});
