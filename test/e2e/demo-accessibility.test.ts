import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchBrowser } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';

let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  demo = await runDemo();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

const banners = (page: Page) => page.locator('placard-frame').first().waitFor();
const PAGES: readonly [name: string, path: string, ready: (page: Page) => Promise<void>][] = [
  ['the shelf, with a hero and a card', '/', banners],
  ['a product', '/#/product/vase', banners],
  ['the cart, with a strip', '/#/cart', banners],
  ['the thanks', '/#/thanks', (page) => page.getByRole('heading', { name: 'Thank you' }).waitFor()],
  [
    'the Studio',
    '/studio.html',
    async (page) => {
      await page.getByRole('radio', { name: /Summer sale/ }).check();
      await page.frameLocator('iframe').first().getByText('Summer sale').first().waitFor();
    },
  ],
];

describe.each([
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const)('at %i pixels on a %s page, axe finds nothing wrong with', (width, colorScheme) => {
  test.each(PAGES)('%s', async (_, path, ready) => {
    // axe is a script from outside of the page, which its policy would refuse.
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme,
      bypassCSP: true,
    });
    const page = await context.newPage();
    await page.goto(demo.url + path);
    await ready(page);
    const toggle = page.getByRole('button', { name: /Behind the counter/ });
    if (await toggle.isVisible()) await toggle.click();
    expect(await axeProblems(page)).toEqual([]);
    await context.close();
  });
});
