// A message in another language: written with the keyboard only, previewed, sent to translators, and read by a user.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const saved = (page: Page) => page.getByText('Draft saved').waitFor();
const frame = (page: Page) => page.frameLocator('iframe');

/** Response for a page whose browser prefers a language. */
const headlineIn = async (language: string): Promise<string> => {
  const response = await fetch(`${studio.serviceUrl}/v1/device-messaging/banners/sync`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer demo-client-key',
      'content-type': 'application/json',
      'accept-language': language,
    },
    body: JSON.stringify({
      external_user_id: `reader-of-${language}`,
      app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
      app_version: '1',
      placements: ['checkout_strip'],
    }),
  });
  return (await response.json()).banners.checkout_strip.properties.headline.value;
};

test('writes a translation, previews it right-to-left, exchanges it with translators and publishes it', async () => {
  const page = await studio.open('/campaigns/free-delivery');
  // Keyboard only.
  await page.getByText('Translate it').focus();
  await page.keyboard.press('Enter');
  // The field accepts the English name of a common language, too.
  await page.getByLabel('Translate into').fill('german');
  await page.getByRole('button', { name: 'Add German' }).waitFor();
  await page.getByLabel('Translate into').fill('');
  await page.getByLabel('Translate into').focus();
  await page.keyboard.type('ar');
  await page.keyboard.press('Enter');
  await page.getByRole('radio', { name: 'Arabic · 3 missing' }).waitFor();
  await page.getByLabel('Headline', { exact: true }).focus();
  await page.keyboard.type('توصيل مجاني');
  await page.getByRole('radio', { name: 'Arabic · 2 missing' }).waitFor();
  await frame(page).getByText('توصيل مجاني').waitFor();
  expect(await frame(page).locator('html').getAttribute('dir')).toBe('rtl');
  expect(await frame(page).locator('section[lang=ar]').count()).toBe(1);
  await page.getByText('In Arabic.').waitFor();

  // A check links to the text that it concerns, also from the campaign's source language.
  await page.getByRole('radio', { name: 'English' }).check();
  await frame(page).getByText('Free delivery from 60').waitFor();
  await page.getByRole('button', { name: 'Arabic · Body' }).click();
  await page.getByRole('radio', { name: 'Arabic · 2 missing' }).waitFor();
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('property-body');

  // Exported for a translator, and imported.
  await page.getByText('Add a language, or work with translators').click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export XLIFF 1.2' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('free-delivery.ar.1.2.xlf');
  const stream = await file.createReadStream();
  let xliff = '';
  for await (const chunk of stream) xliff += chunk;
  const body = 'Add one more piece and the parcel is on us.';
  const back = xliff.replace(
    `<source>${body}</source>`,
    `<source>${body}</source><target>أضف قطعة أخرى</target>`,
  );
  expect(back).not.toBe(xliff);
  await page
    .getByLabel('File with translations')
    .setInputFiles({ name: 'back.xlf', mimeType: 'application/xml', buffer: Buffer.from(back) });
  await page.getByRole('radio', { name: 'Arabic · 1 missing' }).waitFor();
  await frame(page).getByText('أضف قطعة أخرى').waitFor();

  // One undo reverts the whole file.
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('radio', { name: 'Arabic · 2 missing' }).waitFor();
  await page.getByRole('button', { name: 'Redo' }).click();
  await saved(page);

  await page.getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Publish/ });
  await dialog.getByText('strip · Arabic · Headline').waitFor();
  await dialog.getByRole('button', { name: 'Publish now' }).click();
  await page.getByText(/Release 1 is live/).waitFor();
  expect(await headlineIn('ar-EG, en;q=0.5')).toBe('توصيل مجاني');
  expect(await headlineIn('fr')).toBe('Free delivery from 60');
});
