// Studio pages with a slow response, a conflicting edit of a colleague, or an invalid value.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const close = (page: Page) => page.context().close();
const headline = (page: Page) => page.getByLabel('Headline', { exact: true });
const saved = (page: Page) => page.getByText('Draft saved').waitFor();

/** Publishes a campaign with another headline, as a colleague would while the page is open. */
const publishBeside = async (id: string, text: string): Promise<void> => {
  const page = await studio.open(`/campaigns/${id}`);
  await headline(page).fill(text);
  await saved(page);
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('button', { name: 'Publish now' }).click();
  await page.getByText(/Release \d+ is live/).waitFor();
  await close(page);
};

describe('unsaved changes', () => {
  test('kept offline do not overwrite a colleague’s publication silently', async () => {
    const page = await studio.open('/campaigns/come-back');
    await page.route('**/api/drafts/**', (route) => route.abort());
    await headline(page).fill('Written on the train');
    await page.getByText(/^Unsaved changes/).waitFor();
    await page.goto('about:blank');
    await publishBeside('come-back', 'Published at the office');

    await page.unroute('**/api/drafts/**');
    await page.goto(`${studio.url}/campaigns/come-back`);
    await page.getByRole('alert').getByText('This draft was published or discarded').waitFor();
    expect(await headline(page).inputValue()).toBe('Written on the train');
    // Saved anyway, the draft is based on the release that its author knew: publishing shows the newer one.
    await page.getByRole('button', { name: 'Save mine' }).click();
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText(/published release \d+ on/).waitFor();
    await close(page);
  });

  test('are saved again when the connection is back', async () => {
    const page = await studio.open('/campaigns/gift-wrap');
    await page.route('**/api/drafts/**', (route) => route.abort());
    await headline(page).fill('Once more');
    await page.getByText(/^Unsaved changes/).waitFor();
    await page.unroute('**/api/drafts/**');
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await saved(page);
    await close(page);
  });
});

describe('a conflict with a colleague', () => {
  test('is shown where the publication was rejected, and lets the operator use the newer draft', async () => {
    const page = await studio.open('/campaigns/free-delivery');
    await headline(page).fill('Mine');
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).waitFor();
    const other = await studio.open('/campaigns/free-delivery');
    await headline(other).fill('Theirs');
    await saved(other);
    await close(other);

    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Use saved version' }).click();
    expect(await headline(page).inputValue()).toBe('Theirs');
    await close(page);
  });

  test('does not lose changes or ask a question if the colleague changed another part', async () => {
    const page = await studio.open('/campaigns/tea-lovers');
    const other = await studio.open('/campaigns/tea-lovers');
    await other.getByLabel('Name', { exact: true }).fill('Tea for two');
    await saved(other);
    await close(other);
    await headline(page).fill('Cups for your pot');
    await page.getByText('You changed this draft in another window. Both changes are kept.').waitFor();
    await saved(page);
    await page.reload();
    await page.getByRole('heading', { name: 'Tea for two' }).waitFor();
    expect(await headline(page).inputValue()).toBe('Cups for your pot');
    await close(page);
  });

  test('is visible without scrolling from any part of the form', async () => {
    const page = await studio.open('/campaigns/gold-preview');
    const field = page.getByLabel('Image description');
    await field.fill('One');
    await saved(page);
    const other = await studio.open('/campaigns/gold-preview');
    await other.getByLabel('Image description').fill('Of the other');
    await saved(other);
    await close(other);
    await field.fill('Two');
    await page.getByRole('button', { name: 'Use saved version' }).waitFor();
    await page.evaluate(() => scrollTo({ top: document.documentElement.scrollHeight }));
    const { y } = (await page
      .getByRole('heading', { name: /^You changed this draft in another window at/ })
      .boundingBox())!;
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y).toBeLessThan(800);
    const state = (await page.locator('.draft-state').boundingBox())!;
    expect(state.y).toBeGreaterThanOrEqual(0);
    await close(page);
  });
});

test('does not show a response for one user under the name of another', async () => {
  const page = await studio.open('/explain');
  const who = page.getByLabel('Preview as');
  await page.locator('.why-list').first().waitFor();
  let late: (() => void) | undefined;
  const isLate = new Promise<void>((resolve) => {
    late = resolve;
  });
  const [, first, second] = await who
    .locator('option')
    .evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));
  await page.route('**/api/explain', async (route) => {
    const { person } = route.request().postDataJSON();
    if (`persona:${person.persona}` !== first) return route.continue();
    await isLate;
    await route.fulfill({
      json: { placements: {}, hasProfile: false, isReal: true },
    });
  });
  await who.selectOption(first!);
  await who.selectOption(second!);
  await page.locator('.why-list').first().waitFor();
  const ended = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/api/explain'));
  late!();
  await Promise.race([ended, page.waitForEvent('requestfailed')]);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  expect(await page.getByText('No placements yet').count()).toBe(0);
  await close(page);
});

test('requests a link to a page of the site once, not for every letter of its URL', async () => {
  const page = await studio.open('/campaigns/tea-lovers');
  await headline(page).fill('Tea');
  await saved(page);
  let links = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/preview-links')) links += 1;
  });
  await page.clock.install();
  await page.getByRole('button', { name: /Preview on the site/ }).click();
  await page.getByRole('img', { name: /QR/ }).waitFor();
  const address = page.getByRole('dialog').getByLabel('Page', { exact: true });
  for (const letter of 'sale') {
    await address.press(letter);
    await page.clock.runFor(1_000);
  }
  expect(links).toBe(1);
  // The link of another page is not offered at this address.
  expect(await page.getByRole('link', { name: 'Open', exact: true }).count()).toBe(0);
  await address.press('Enter');
  await page.getByRole('link', { name: 'Open', exact: true }).waitFor();
  expect(links).toBe(2);
  await close(page);
});

test('reports a number out of bounds and keeps the previous one', async () => {
  const page = await studio.open('/campaigns/spring-collection');
  const control = page.getByLabel('Control group (%)');
  await control.fill('10');
  await saved(page);
  for (const typed of ['101', '-5']) {
    await control.fill(typed);
    await page.getByText('Enter a number from 0 to 100. 10 stays.').waitFor();
  }
  expect(await page.getByText('Control 10%').count()).toBe(1);
  await control.fill('20');
  await page.getByText('Control 20%').waitFor();
  await close(page);
});

test('suggests the names of attributes that users have', async () => {
  const page = await studio.open('/campaigns/gold-preview');
  await page.getByRole('tab', { name: /Audience/ }).click();
  await page.getByRole('button', { name: 'Attribute', exact: true }).click();
  const list = await page.getByLabel('Attribute', { exact: true }).last().getAttribute('list');
  const names = page.locator(`datalist#${list} option`);
  await expect
    .poll(() => names.evaluateAll((all) => all.map((each) => each.getAttribute('value'))))
    .toContain('loyalty_tier');
  await close(page);
});
