import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBanner, createFakeService } from '../../src/testing/index.ts';
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

const IMAGE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="10"><rect width="16" height="10"/></svg>';

let browser: Browser;
let pages: PageServer;
let api: HttpServer;
let page: Page;
const service = createFakeService();

beforeAll(async () => {
  [browser, pages, api] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates'] }),
    serveHandler(service.handle),
  ]);
  for (const at of [1, 2, 3]) pages.file(`/${at}.svg`, IMAGE, { 'content-type': 'image/svg+xml' });
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close(), api?.close()]);
});

const slide = (at: number, ending: string) => ({
  [`headline${ending}`]: { type: 'string', value: `Slide ${at}` },
  [`button_text${ending}`]: { type: 'string', value: `Go to ${at}` },
  [`link${ending}`]: { type: 'string', value: `#to-${at}` },
  [`image${ending}`]: { type: 'image', value: `/${at}.svg` },
  [`image_alt${ending}`]: { type: 'string', value: `Picture ${at}` },
});

test.each(['ltr', 'rtl'])(
  'a carousel (%s) shows several images and links, moves only on input, and counts each link',
  async (dir) => {
    service.clear();
    service.setBanner('home_hero', {
      ...buildBanner('home_hero', {}),
      properties: { ...slide(1, ''), ...slide(2, '_2'), ...slide(3, '_3') },
    });
    pages.set('/carousel', {
      html: `<main dir="${dir}"><h1>Shop</h1><div id="slot" style="inline-size: 400px"></div></main>`,
      script: `
      import { createPlacard } from '/placard/index.js';
      import { carousel } from '/placard/templates.js';
      globalThis.placard = createPlacard({
        endpoint: '${api.origin}', apiKey: 'client-key', appId: crypto.randomUUID(), appVersion: '1', userId: 'u-1',
        delivery: { maxDelayMs: 100 },
      });
      placard.mount('home_hero', document.querySelector('#slot'), carousel);`,
    });
    page = await browser.newPage({ reducedMotion: 'reduce' });
    await page.goto(`${pages.origin}/carousel`);
    const place = page.getByRole('status');
    await place.getByText('1 / 3').waitFor();
    await expect
      .poll(() =>
        page
          .locator('#slot img')
          .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth > 0)),
      )
      .toEqual([true, true, true]);
    expect(await axeProblems(page)).toEqual([]);
    const isInView = (text: string) =>
      page.getByText(text, { exact: true }).evaluate((element) => {
        const box = document.querySelector('#slot')!.getBoundingClientRect();
        const { left, right } = element.getBoundingClientRect();
        return left >= box.left - 1 && right <= box.right + 1;
      });
    expect([await isInView('Go to 1'), await isInView('Go to 2')]).toEqual([true, false]);

    await page.getByRole('button', { name: 'Next' }).click();
    await place.getByText('2 / 3').waitFor();
    await expect.poll(() => isInView('Go to 2')).toBe(true);
    await page.getByRole('link', { name: 'Go to 2' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await place.getByText('3 / 3').waitFor();
    // At the end, the button stays and has no effect.
    const next = page.getByRole('button', { name: 'Next' });
    expect(await next.getAttribute('aria-disabled')).toBe('true');
    await next.press('Enter');
    await page.getByRole('button', { name: 'Previous' }).click();
    await place.getByText('2 / 3').waitFor();
    await page.evaluate(() => placard.flush());
    await expect.poll(() => service.events.filter(({ type }) => type === 'click').length).toBe(1);
    expect(new URL(page.url()).hash).toBe('#to-2');

    // The carousel never advances automatically.
    await page.clock.install();
    await page.reload();
    await place.getByText('1 / 3').waitFor();
    await page.clock.fastForward('01:00:00');
    expect(await place.textContent()).toBe('1 / 3');
    await page.close();
  },
);
