// Creates a campaign from a gallery card with the keyboard only.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

test('renders every image with its template, and creates a draft for its placement from the chosen one', async () => {
  const page = await studio.open();
  await page.getByRole('link', { name: 'New campaign' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Start from a template' }).waitFor();
  const cards = page.locator('.gallery-card');
  await cards.last().waitFor();
  for (const [index, words] of [
    'Something new is here',
    '15% off this week',
    'Good to see you',
    'We deliver a day later this week',
    'The sale ends soon',
    'What brings you here?',
    'New this week',
  ].entries()) {
    await cards.nth(index).frameLocator('iframe').getByText(words).waitFor();
  }
  await cards
    .nth(4)
    .frameLocator('iframe')
    .getByRole('timer')
    .getByText(/^3 days/)
    .waitFor();
  expect(await cards.nth(5).frameLocator('iframe').locator('.buttons a').count()).toBe(2);

  // The content of the previews is not in the tab order.
  await page.getByRole('button', { name: 'Empty message' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Offer/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Notice', exact: true }).waitFor();
  expect(await page.getByLabel('Checkout strip').isChecked()).toBe(true);
  await page.frameLocator('iframe').getByText('We deliver a day later this week').waitFor();
});

test('keeps previews inside their cards if the gallery is opened by its URL', async () => {
  const page = await studio.open('/new');
  const card = page.locator('.gallery-card').nth(1);
  await card.frameLocator('iframe').getByText('15% off this week').waitFor();
  const [frame, box] = [(await card.locator('iframe').boundingBox())!, (await card.boundingBox())!];
  expect(frame.y - box.y).toBeLessThanOrEqual(1);
  expect(frame.x).toBeLessThanOrEqual(box.x + 1);
  expect(frame.x + frame.width).toBeGreaterThanOrEqual(box.x + box.width - 1);
});

test('offers an empty message', async () => {
  const page = await studio.open('/new');
  await page.getByRole('button', { name: 'Empty message' }).click();
  await page.getByRole('heading', { name: 'New campaign', exact: true }).waitFor();
  expect(await page.getByLabel('Headline', { exact: true }).inputValue()).toBe('');
});
