// Work after the first publish: translation files, segments that campaigns use, a second operator.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const close = (page: Page) => page.context().close();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const headline = (page: Page) => page.getByLabel('Headline', { exact: true });
const saved = (page: Page) => page.getByText('Draft saved').waitFor();

const draft = async (id: string, more: Record<string, unknown> = {}): Promise<void> => {
  const campaign = {
    campaign_id: id,
    name: id,
    status: 'active',
    placements: ['home_hero'],
    variants: [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'Doors' } } }],
    ...more,
  };
  await studio.call('PUT', `/api/drafts/${id}`, { campaign, based_on: 0 });
};

test('a file of translators in another encoding than its own is refused, and one that names it is read', async () => {
  const translations = { de: {} };
  const properties = { headline: { type: 'string', value: 'Doors' } };
  await draft('doors', { language: 'en', variants: [{ variant_id: 'a', properties, translations }] });
  const page = await studio.open('/campaigns/doors');
  await page.getByText('Add a language, or work with translators').click();
  const give = (name: string, text: string, encoding: BufferEncoding) =>
    page
      .getByLabel('File with translations')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text, encoding) });
  const csv = 'variant,property,en,de\r\na,headline,Doors,Türchen\r\n';
  await give('excel.csv', csv, 'latin1');
  await page
    .getByText('“excel.csv” is not in UTF-8. In Excel, save it as “CSV UTF-8”, then import it again.')
    .waitFor();
  const xliff = `<?xml version="1.0" encoding="ISO-8859-1"?>
    <xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
    <file original="doors" datatype="plaintext" source-language="en" target-language="de"><body>
    <trans-unit id="a/headline"><source>Doors</source><target>Türchen</target></trans-unit>
    </body></file></xliff>`;
  await give('tool.xlf', xliff, 'latin1');
  await page.getByText('1 text taken from tool.xlf.').waitFor();
  await page.getByRole('radio', { name: /^German/ }).check();
  expect(await headline(page).inputValue()).toBe('Türchen');
  await give('unicode.csv', `\ufeff${csv.replace('Türchen', 'Tür')}`, 'utf16le');
  await page.getByText('1 text taken from unicode.csv.').waitFor();
  expect(await headline(page).inputValue()).toBe('Tür');
  await close(page);
});

test('a segment that would silence a running campaign says so, has a history, and outlives Escape', async () => {
  const save = (audience: unknown, basedOn: number) =>
    studio.call('PUT', '/api/segments/elite', { name: 'Elite', audience, note: 'First', based_on: basedOn });
  const { release } = await save({ loyalty_tier: 'gold' }, 0);
  await draft('for-elite', { audience: { $segment: 'elite' } });
  const { draft: stored } = await studio.read('/api/campaigns/for-elite');
  await studio.call('POST', '/api/releases', {
    campaign_id: 'for-elite',
    revision: (stored as { revision: string }).revision,
    note: '',
  });
  await save({ loyalty_tier: 'platinum' }, Number(release));
  const page = await studio.open('/segments');
  await page.getByRole('button', { name: 'Change Elite' }).click();
  await page.getByLabel('Value').first().fill('golden');
  await page
    .getByText(/^Almost nobody is left in this segment\. Running campaigns that use it: “for-elite”/)
    .waitFor();
  await button(page, 'Save anyway').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Not saved. Choose “Cancel” to discard your changes.').waitFor();
  expect(await page.getByLabel('Value').first().inputValue()).toBe('golden');
  await page.getByText('History', { exact: true }).click();
  await button(page, `Restore release ${release}`).click();
  await expect.poll(() => page.getByLabel('Value').first().inputValue()).toBe('gold');
  await button(page, 'Cancel').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close(page);
});

describe('somebody who only reads a draft', () => {
  test('follows what a colleague saves, also while the question before a publish is open', async () => {
    await draft('shared');
    const reader = await studio.open('/campaigns/shared');
    await button(reader, 'Publish …').click();
    await button(reader, 'Publish now').waitFor();
    const writer = await studio.open('/campaigns/shared');
    await headline(writer).fill('Of a colleague');
    await saved(writer);
    await close(writer);
    await reader.evaluate(() => dispatchEvent(new Event('online')));
    await reader.getByText('Demo changed this draft. What follows includes the change.').waitFor();
    await button(reader, 'Publish now').click();
    await reader.getByText(/^Release \d+ is live/).waitFor();
    expect(await headline(reader).inputValue()).toBe('Of a colleague');
    await close(reader);
  });

  test('is told in the open question where they had changed it themselves', async () => {
    await draft('contested');
    const page = await studio.open('/campaigns/contested');
    await headline(page).fill('Mine');
    await saved(page);
    await button(page, 'Publish …').click();
    await button(page, 'Publish now').waitFor();
    const other = await studio.open('/campaigns/contested');
    await headline(other).fill('Theirs');
    await saved(other);
    await close(other);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page
      .getByRole('dialog')
      .getByText(/^This draft was changed, published or discarded meanwhile/)
      .waitFor();
    await close(page);
  });
});

test('a campaign that nobody would see is not ready', async () => {
  await draft('unseen', { audience: { no_such_attribute: 'yes' } });
  const page = await studio.open('/campaigns/unseen');
  const checks = page.locator('.checks');
  await checks.getByText('No users match this audience.').waitFor();
  expect(await checks.getByRole('heading').textContent()).toMatch(/^Can be published, with \d warnings?$/);
  await button(page, 'Publish …').click();
  await page
    .getByRole('dialog')
    .locator('.reach-verdict')
    .getByText('No users match this audience.')
    .waitFor();
  await close(page);
});
