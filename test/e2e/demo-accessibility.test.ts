import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeProblems, LOOKS } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';

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

const banners = (page: Page) => page.locator('placard-frame').first().waitFor();
const PAGES: readonly [name: string, path: string, ready: (page: Page) => Promise<void>][] = [
  ['the shelf, with a hero and a card', '/', banners],
  ['a product', '/#/product/vase', banners],
  [
    'the cart, with a strip',
    '/',
    async (page) => {
      await page.getByRole('button', { name: 'Add to cart: Low bowl' }).click();
      await page.goto(`${demo.url}/#/cart`);
      await banners(page);
    },
  ],
  ['the thanks', '/#/thanks', (page) => page.getByRole('heading', { name: 'Thank you' }).waitFor()],
];

describe('axe finds nothing wrong, light and dark, wide and narrow, with', () => {
  test.each(PAGES)('%s', async (_, path, ready) => {
    // axe is a script from outside of the page, which its policy would refuse.
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(demo.url + path);
    await ready(page);
    for (const { width, colorScheme } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const toggle = page.getByRole('button', { name: /Behind the counter/, expanded: false });
      if (await toggle.isVisible()) await toggle.click();
      expect(await axeProblems(page), `${width} pixels, ${colorScheme}`).toEqual([]);
    }
    await context.close();
  });
});
