import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

const open = async (width: number): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width, height: 800 } });
  await page.goto(demo.url);
  await page.locator('placard-frame').first().waitFor();
  return page;
};
const visibleSlots = (page: Page) => page.locator('.slot').filter({ visible: true }).count();

test('signing out takes the boxes of the banners along', async () => {
  const page = await open(1280);
  await page.getByLabel('Seen as').selectOption('Nobody (signed out)');
  await expect.poll(() => visibleSlots(page)).toBe(0);
  await page.getByLabel('Seen as').selectOption({ index: 0 });
  await expect.poll(() => visibleSlots(page)).toBe(2);
  await page.close();
});

test('a word on the cart stands over a cart that holds something', async () => {
  const page = await open(1280);
  await page.getByRole('button', { name: 'Add to cart: Low bowl' }).click();
  await page.getByRole('link', { name: 'Cart, 1 thing' }).click();
  await page.locator('.slot-checkout_strip placard-frame').waitFor();
  await page.getByRole('button', { name: 'One less' }).click();
  await page.getByRole('heading', { name: 'Nothing in it yet' }).waitFor();
  expect(await visibleSlots(page)).toBe(0);
  await page.close();
});

test('on a phone every target is 44 pixels high', async () => {
  const page = await open(360);
  for (const hash of ['#/', '#/product/teapot', '#/cart']) {
    await page.evaluate((to) => location.assign(to), hash);
    await page.locator('main > *').waitFor();
    const small = await page.evaluate(() =>
      [...document.querySelectorAll('.shop a, .shop button, .shop select')]
        .map((target) => [target.textContent, target.getBoundingClientRect().height] as const)
        .filter(([, height]) => height > 0 && height < 44),
    );
    expect(small, hash).toEqual([]);
  }
  await page.close();
});

test.each([360, 1280])('text of twice the size fits a window of %i pixels', async (width) => {
  const page = await open(width);
  // CSSOM: a style element would be against the page's policy.
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
  for (const hash of ['#/', '#/product/teapot', '#/cart']) {
    await page.evaluate((to) => location.assign(to), hash);
    await page.locator('main > *').waitFor();
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, hash).toBeLessThanOrEqual(0);
  }
  await page.close();
});

test('an app of another origin can show the pictures of the banners', async () => {
  const response = await fetch(`${demo.url}/v1/device-messaging/banners/sync`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-client-key', 'content-type': 'application/json' },
    body: JSON.stringify({
      external_user_id: 'someone',
      app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
      app_version: '1.0.0',
      placements: ['home_hero'],
    }),
  });
  const { banners } = await response.json();
  const image = await fetch(banners.home_hero.properties.image.value);
  expect(image.status).toBe(200);
  expect(image.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
});
