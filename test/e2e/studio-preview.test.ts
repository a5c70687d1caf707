// The preview beside the form: its space is reserved at once, and drawing errors are shown.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

interface Shift {
  value: number;
  moved: string[];
}

/** Layout shifts of the page, from the first paint on. */
const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: Shift[] = [];
    Reflect.set(window, 'layoutShifts', shifts);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: { node: Node | null }[];
      })[]) {
        const moved = entry.sources.map(({ node }) => (node as Element | null)?.className || node?.nodeName);
        shifts.push({ value: entry.value, moved: moved.map(String) });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
const getShifts = (page: Page) => page.evaluate(() => Reflect.get(window, 'layoutShifts') as Shift[]);

describe('the editor after a reload', () => {
  test.each([
    { width: 1280, campaign: 'spring-collection' },
    { width: 700, campaign: 'gift-wrap' },
    { width: 360, campaign: 'spring-collection' },
  ])('causes no layout shift while it loads, $width pixels wide', async ({ width, campaign }) => {
    const page = await studio.open(`/campaigns/${campaign}`, { viewport: { width, height: 900 } });
    await watchShifts(page);
    await page.reload();
    const banner = page.frameLocator('.glass iframe').locator('.slot:not(.empty) *').first();
    await banner.waitFor();
    await page.getByRole('heading', { name: /^Ready|^Can be published|to fix$/ }).waitFor();
    // Two frames after everything is loaded, so that late drawing is done.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await expect.poll(() => getShifts(page)).toEqual([]);
    await page.context().close();
  });
});

test('reports a QR code that cannot be generated, and shows the link without it', async () => {
  const page = await studio.open('/campaigns/gift-wrap');
  // Its library is a separate file, loaded for the dialog.
  await page.route(/\/assets\/(?!index|frame)[^/]*\.js$/, (route) => route.abort());
  await page.getByLabel('Headline', { exact: true }).fill('Wrapped');
  await page.getByText('Draft saved').waitFor();
  await page.getByRole('button', { name: /Preview on the site/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/could not be loaded. The link works/).waitFor();
  expect(await dialog.getByRole('link', { name: 'Open', exact: true }).getAttribute('href')).toContain('#');
  await page.context().close();
});
