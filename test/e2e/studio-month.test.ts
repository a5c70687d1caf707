// Work after the first publish: translation files, segments that campaigns use, a second operator.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeProblems } from '../helpers/axe-problems.ts';
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

test('rejects a translation file in the wrong encoding and reads one that declares its encoding', async () => {
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
  await page.getByText('1 text imported from tool.xlf.').waitFor();
  await page.getByRole('radio', { name: /^German/ }).check();
  expect(await headline(page).inputValue()).toBe('Türchen');
  await give('unicode.csv', `\ufeff${csv.replace('Türchen', 'Tür')}`, 'utf16le');
  await page.getByText('1 text imported from unicode.csv.').waitFor();
  expect(await headline(page).inputValue()).toBe('Tür');
  await close(page);
});

test('warns if a segment would silence a running campaign, keeps input on Escape, and has a history', async () => {
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
  const newest = await save({ loyalty_tier: 'platinum' }, Number(release));
  const page = await studio.open('/segments');
  await page.getByRole('button', { name: 'Change Elite' }).click();
  await page.getByLabel('Value').first().fill('golden');
  await page
    .getByText(/^Almost no users are in this segment\. Live campaigns that use it: “for-elite”/)
    .waitFor();
  await button(page, 'Save anyway').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Not saved. Choose “Cancel” to discard your changes.').waitFor();
  expect(await page.getByLabel('Value').first().inputValue()).toBe('golden');
  await page.getByText('History', { exact: true }).click();
  await button(page, `Restore release ${release}`).waitFor();
  expect(await button(page, `Restore release ${newest.release}`).count()).toBe(0);
  await button(page, `Restore release ${release}`).click();
  await expect.poll(() => page.getByLabel('Value').first().inputValue()).toBe('gold');
  await button(page, 'Cancel').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close(page);
});

describe('a user who only reads a draft', () => {
  test('sees changes that a colleague saves, even while the publish dialog is open', async () => {
    await draft('shared');
    const reader = await studio.open('/campaigns/shared');
    await button(reader, 'Publish…').click();
    await button(reader, 'Publish now').waitFor();
    const writer = await studio.open('/campaigns/shared');
    await headline(writer).fill('Of a colleague');
    await saved(writer);
    await close(writer);
    await reader.evaluate(() => dispatchEvent(new Event('online')));
    await reader
      .getByText('You changed this draft in another window. The differences include the change.')
      .waitFor();
    await button(reader, 'Publish now').click();
    await reader.getByText(/^Release \d+ is live/).waitFor();
    expect(await headline(reader).inputValue()).toBe('Of a colleague');
    await close(reader);
  });

  test('sees in the open dialog that a colleague changed the same part', async () => {
    await draft('contested');
    const page = await studio.open('/campaigns/contested');
    await headline(page).fill('Mine');
    await saved(page);
    await button(page, 'Publish…').click();
    await button(page, 'Publish now').waitFor();
    const other = await studio.open('/campaigns/contested');
    await headline(other).fill('Theirs');
    await saved(other);
    await close(other);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page
      .getByRole('dialog')
      .getByText(/^This draft was changed, published or discarded\./)
      .waitFor();
    await close(page);
  });
});

test('does not mark a campaign without reach as ready', async () => {
  await draft('unseen', { audience: { no_such_attribute: 'yes' } });
  const page = await studio.open('/campaigns/unseen');
  const checks = page.locator('.checks');
  await checks.getByText('No users match this audience.').waitFor();
  expect(await checks.getByRole('heading').textContent()).toBe('No users will see it');
  // The reason comes before warnings that other fields have.
  await page.getByLabel('Button text', { exact: true }).fill('See');
  await checks.getByText('Button text is not shown without a link.').waitFor();
  expect(await checks.getByRole('listitem').first().textContent()).toMatch(/No users match this audience\.$/);
  await button(page, 'Publish…').click();
  await page
    .getByRole('dialog')
    .locator('.reach-visibility')
    .getByText('No users will see it: no users match its audience.')
    .waitFor();
  await close(page);
});

test('Checks report a field with unsaved input, and neither Publish nor another section discards it', async () => {
  await draft('unread');
  const page = await studio.open('/campaigns/unread');
  const checks = page.locator('.checks');
  await checks.getByRole('heading', { name: /^Ready to publish/ }).waitFor();
  const control = page.getByLabel('Control group (%)');
  await control.fill('120');
  await checks.getByRole('heading', { name: '1 error to fix' }).waitFor();
  await checks.getByText(': Not saved. Fix or clear it.').waitFor();
  await page.getByRole('tab', { name: /Schedule/ }).click();
  await expect.poll(() => control.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await control.inputValue()).toBe('120');
  await headline(page).focus();
  await button(page, 'Publish…').click();
  await expect.poll(() => control.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await control.fill('10');
  await checks.getByRole('heading', { name: /^Can be published/ }).waitFor();

  // An incomplete condition would widen the audience without a word.
  await page.getByRole('tab', { name: /Audience/ }).click();
  await button(page, 'Event').click();
  await checks.getByRole('heading', { name: '1 error to fix' }).waitFor();
  await page.getByRole('tab', { name: 'Audience 1 error', exact: true }).waitFor();
  expect(await checks.getByRole('listitem').first().textContent()).toBe(
    'error: Audience: Not saved. Fix or clear it.',
  );
  await page.getByRole('button', { name: 'Remove condition' }).click();
  await checks.getByRole('heading', { name: /^Can be published/ }).waitFor();

  // Typed one by one, a digit at a time.
  await page.getByRole('tab', { name: /Goal/ }).click();
  await button(page, 'Add goal').click();
  const days = page.getByLabel('Within days');
  await days.fill('');
  await days.pressSequentially('14');
  await days.fill('45');
  await page.getByText('14 stays.').waitFor();
  await close(page);
});

test('Publish shows the reach first, then three of the overridden campaigns, then full dates', async () => {
  for (const name of ['First', 'Second', 'Third', 'Fourth', 'Fifth']) {
    const id = `loser-${name.toLowerCase()}`;
    await draft(id, { name, placements: ['thanks_choice'] });
    const { draft: stored } = await studio.read(`/api/campaigns/${id}`);
    const { revision } = stored as { revision: string };
    await studio.call('POST', '/api/releases', { campaign_id: id, revision, note: '' });
  }
  const winner = { placements: ['thanks_choice'], priority: 'high', ends_at: '2098-07-05T10:00:00Z' };
  await draft('winner', winner);
  const { draft: stored } = await studio.read('/api/campaigns/winner');
  const { revision } = stored as { revision: string };
  const { release } = await studio.call('POST', '/api/releases', {
    campaign_id: 'winner',
    revision,
    note: '',
  });
  const page = await studio.open('/campaigns/winner#schedule');
  await page.getByLabel('End', { exact: true }).fill('2099-08-06T12:00');
  await saved(page);
  await button(page, 'Publish…').click();
  const dialog = page.getByRole('dialog');
  await dialog
    .locator('.reach-visibility')
    .getByText(/will see it/)
    .waitFor();
  const impact = dialog.getByText(/^Overrides/);
  expect((await impact.innerText()).match(/“/g)).toHaveLength(3);
  await dialog.getByRole('button', { name: /^\d more$/ }).click();
  expect((await impact.innerText()).match(/“/g)!.length).toBeGreaterThanOrEqual(5);
  const end = dialog.locator('.change', { hasText: 'End' });
  await expect.poll(() => end.locator('del').allTextContents()).toEqual(['Sat, 5 Jul 2098, 12:00 CEST']);
  expect(await end.locator('ins').allTextContents()).toEqual(['Thu, 6 Aug 2099, 12:00 CEST']);
  const order = await dialog
    .locator('.reach-visibility, p:has-text("Overrides"), .changes')
    .evaluateAll((all) => all.map(({ className }) => className));
  expect(order).toEqual(['reach-visibility', '', 'changes']);
  expect(release).toBeGreaterThan(0);
  await close(page);
});

test('Checks, Publish and the list mark a campaign for test users, and a reload keeps the list', async () => {
  await draft('in-secret', { status: 'draft', test_users: ['u-1'], ends_at: '2099-07-05T10:00:00Z' });
  const page = await studio.open('/campaigns/in-secret#audience');
  await page.locator('.audience-words').getByText('Only its test users will see it.').waitFor();
  await button(page, 'Publish…').click();
  await page.getByRole('dialog').getByText('Only its test users will see it.').waitFor();
  await button(page, 'Publish now').click();
  await page.getByText(/^Release \d+ is live/).waitFor();
  await page.getByRole('link', { name: 'Campaigns' }).first().click();
  // Words in any order, one of them of a placement.
  await page.getByLabel('Search campaigns').fill('hero secret');
  await page.getByRole('radio', { name: 'Live' }).check();
  const rows = page.locator('.list-row:not(.list-heads)');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByText('Test users only').waitFor();
  await rows.getByText('Until 5 Jul 2099').waitFor();
  await page.reload();
  await rows.getByText('Test users only').waitFor();
  expect(await rows.count()).toBe(1);
  expect(await page.getByLabel('Search campaigns').inputValue()).toBe('hero secret');
  expect(await page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true);
  await close(page);
});

test('previews a published campaign on the site', async () => {
  const page = await studio.open('/campaigns/spring-collection');
  await page.getByRole('button', { name: /Preview on the site/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/sees the published version for 30 minutes/).waitFor();
  await dialog.getByRole('link', { name: 'Open', exact: true }).waitFor();
  await close(page);
});

test('archives the ended campaigns that the list shows, except one that changed in the meantime', async () => {
  const release = async (id: string) => {
    const { draft: stored } = await studio.read(`/api/campaigns/${id}`);
    const { revision } = stored as { revision: string };
    return studio.call('POST', '/api/releases', { campaign_id: id, revision, note: '' });
  };
  const releases = new Map<string, unknown>();
  for (const id of ['past-a', 'past-b', 'past-c']) {
    await draft(id, { status: 'stopped' });
    releases.set(id, (await release(id))['release']);
  }
  const page = await studio.open('/?q=past-&show=ended');
  await button(page, 'Archive all 3…').click();
  const dialog = page.getByRole('dialog', { name: 'Archive 3 campaigns?' });
  await dialog.getByLabel('Why (for the history)').fill('Spring is over');
  expect(await axeProblems(page)).toEqual([]);
  const { campaign } = (await studio.read('/api/campaigns/past-b'))['published'] as { campaign: object };
  const body = { campaign: { ...campaign, name: 'Changed' }, based_on: releases.get('past-b') };
  await studio.call('PUT', '/api/drafts/past-b', body);
  await button(page, 'Archive campaigns').click();
  await page.getByText('2 campaigns archived. Changed in the meantime: past-b.').waitFor();
  const rows = page.locator('.list-row:not(.list-heads)');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByText('past-b', { exact: true }).waitFor();
  const { releases: past } = await studio.read('/api/releases?campaign=past-a');
  expect(past).toMatchObject([{ campaign: null, note: 'Spring is over' }, {}]);
  await close(page);
});

test('names the time zone of the end of a countdown', async () => {
  await draft('last-hours', { placements: ['product_countdown'] });
  const page = await studio.open('/campaigns/last-hours');
  await page.getByText('In Europe/Berlin.', { exact: true }).waitFor();
  await page.getByLabel('Countdown end').fill('2099-01-05T09:00');
  await page.getByText('Mon, 5 Jan 2099, 09:00 CET', { exact: true }).waitFor();
  await close(page);
});
