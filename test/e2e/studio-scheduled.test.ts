// Scheduled releases: they are listed, can be moved and canceled, and survive a fix.
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
const notice = (page: Page) => page.getByRole('region', { name: /^Scheduled release/ });

/** A separate campaign, drafted through the API. */
const draft = async (id: string, more: Record<string, unknown> = {}): Promise<void> => {
  const properties = { headline: { type: 'string', value: `First words of ${id}` } };
  const campaign = {
    campaign_id: id,
    name: id,
    status: 'active',
    placements: ['home_hero'],
    variants: [{ variant_id: 'a', properties }],
    ...more,
  };
  await studio.call('PUT', `/api/drafts/${id}`, { campaign, based_on: 0 });
};

/** Publishes the draft on the page. */
const publish = async (page: Page, when: 'now' | 'tomorrow'): Promise<void> => {
  await button(page, 'Publish…').click();
  if (when === 'tomorrow') await page.getByRole('radio', { name: 'At a time' }).check();
  await button(page, when === 'now' ? 'Publish now' : 'Schedule').click();
  await page.getByText(when === 'now' ? /^Release \d+ is live/ : /^Release \d+ goes live on/).waitFor();
  await page
    .locator('.draft-state')
    .filter({ hasText: /^(?:Published|Scheduled)$/ })
    .waitFor();
};

describe('a new campaign published at a time', () => {
  test('is in the list, opens, and becomes a draft again when it is canceled', async () => {
    await draft('advent');
    const page = await studio.open('/campaigns/advent');
    await publish(page, 'tomorrow');
    await notice(page)
      .getByText(/goes live on/)
      .waitFor();
    expect(await headline(page).inputValue()).toBe('First words of advent');

    await page.getByRole('link', { name: 'Campaigns' }).first().click();
    await page.getByLabel('Search campaigns').fill('advent');
    const row = page.getByRole('listitem').filter({ hasText: 'advent' });
    await row.getByText(/^Goes live/).waitFor();
    await page.getByRole('radio', { name: 'Scheduled' }).check();
    await row.getByRole('button', { name: /^Cancel release \d+ of advent$/ }).click();
    await button(page, 'Cancel release').click();
    await page.getByText(/^Release \d+ canceled/).waitFor();
    await page.getByRole('radio', { name: /^All / }).check();
    await row.getByText('Draft', { exact: true }).waitFor();
    await row.getByRole('link').click();
    expect(await headline(page).inputValue()).toBe('First words of advent');
    expect(await notice(page).count()).toBe(0);
    await close(page);
  });

  test('is on the schedule and in the calendar, and can be moved', async () => {
    await draft('lantern');
    const page = await studio.open('/campaigns/lantern');
    await publish(page, 'tomorrow');
    await page.getByRole('link', { name: 'Schedule', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'lantern' });
    await row.getByRole('button', { name: /^Move release \d+ of lantern$/ }).click();
    const at = page.getByLabel(/^New date and time/);
    const [day, time] = (await at.inputValue()).split('T');
    const later = new Date(Date.parse(`${day}T00:00Z`) + 7 * 86_400_000).toISOString().slice(0, 10);
    await at.fill(`${later}T${time}`);
    await button(page, 'Move').click();
    await page.getByText(/^Release \d+ goes live on/).waitFor();
    const shown = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
    await row.getByText(shown.format(Date.parse(later))).waitFor();
    const calendar = page.locator('.plan').getByRole('listitem');
    await calendar
      .filter({ has: page.getByRole('link', { name: 'lantern' }) })
      .getByText(`from ${shown.format(Date.parse(later))}`)
      .waitFor();
    expect(await axeProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeProblems(page)).toEqual([]);
    await close(page);
  });

  test('is replaced if it is changed before it goes live', async () => {
    await draft('epiphany');
    const page = await studio.open('/campaigns/epiphany');
    await publish(page, 'tomorrow');
    await headline(page).fill('Better words');
    await saved(page);
    await button(page, 'Publish…').click();
    await page.getByText('It does not go live.').waitFor();
    await button(page, 'Publish now').click();
    await page.getByText(/^Release \d+ is live/).waitFor();
    await notice(page).waitFor({ state: 'detached' });
    await close(page);
  });
});

describe('a fix beside a scheduled release', () => {
  test('asks how to handle the release, keeps it by default, and logs the choice in the history', async () => {
    await draft('carnival');
    const page = await studio.open('/campaigns/carnival');
    await publish(page, 'now');
    await headline(page).fill('From tomorrow on');
    await saved(page);
    await publish(page, 'tomorrow');
    await notice(page)
      .getByText(/goes live on/)
      .waitFor();
    expect(await headline(page).inputValue()).toBe('First words of carnival');
    await headline(page).fill('A small fix');
    await saved(page);
    await button(page, 'Publish…').click();
    await page.getByText('It replaces this version when it goes live.').waitFor();
    // The release would revert the fix.
    const reverted = page.getByRole('dialog').locator('.notice .change');
    expect(await reverted.locator('del').allTextContents()).toEqual(['A small fix']);
    expect(await reverted.locator('ins').allTextContents()).toEqual(['From tomorrow on']);
    await button(page, 'Publish now').click();
    await page.getByText(/^Release \d+ is live/).waitFor();
    await notice(page)
      .getByText(/goes live on/)
      .waitFor();

    await page.getByRole('link', { name: 'History' }).click();
    const items = page.locator('.releases > li');
    await items.first().waitFor();
    expect(await items.locator('.tag').allTextContents()).toEqual(['Live', 'Scheduled']);
    // Each release is compared with the one that it replaces when it goes live.
    for (const [index, replaced] of ['First words of carnival', 'A small fix'].entries()) {
      await items.nth(index).locator('summary').click();
      expect(await items.nth(index).locator('.change del').allTextContents()).toEqual([replaced]);
    }
    // A scheduled release has no Restore button.
    expect(
      await items
        .nth(1)
        .getByRole('button', { name: /^Restore/ })
        .count(),
    ).toBe(0);
    await items.nth(1).getByRole('button', { name: 'Cancel release…' }).click();
    await button(page, 'Cancel release').click();
    await items.nth(1).getByText('Canceled', { exact: true }).waitFor();
    await items
      .nth(1)
      .getByText(/scheduled for .*, canceled on/)
      .waitFor();
    await close(page);
  });

  test('says which of several releases goes live last', async () => {
    await draft('easter', {
      control_percentage: 95,
      conversions: [{ event: 'signed_up', within_hours: 24 }],
    });
    const page = await studio.open('/campaigns/easter');
    await publish(page, 'now');
    await headline(page).fill('Tomorrow');
    await saved(page);
    await publish(page, 'tomorrow');
    await headline(page).fill('Later');
    await saved(page);
    await button(page, 'Publish…').click();
    await page.getByText('It replaces this version when it goes live.').waitFor();
    await page.getByRole('radio', { name: 'At a time' }).check();
    await page.getByLabel(/^Date and time in/).fill('2099-01-05T09:00');
    await page.getByText('This version replaces it when it goes live.').waitFor();
    await page.getByLabel('Stop the campaign instead if a goal falls below the control group').check();
    await button(page, 'Schedule').click();
    await expect.poll(() => notice(page).count()).toBe(2);
    await notice(page)
      .filter({ hasText: '5 Jan 2099' })
      .getByText(/Stops the campaign instead if a goal falls below the control group\.$/)
      .waitFor();
    await headline(page).fill('A small fix');
    await saved(page);
    await button(page, 'Publish…').click();
    await page.getByText(/^Releases \d+, \d+ will replace this version\.$/).waitFor();
    await page.getByRole('radio', { name: 'Cancel them' }).check();
    await page.getByText('They do not go live.').waitFor();
    await close(page);
  });

  test('can start from the release, whose version is loaded into the editor', async () => {
    await draft('lent');
    const page = await studio.open('/campaigns/lent');
    await publish(page, 'now');
    await headline(page).fill('The second version');
    await saved(page);
    await publish(page, 'tomorrow');
    await notice(page).getByRole('button', { name: 'Edit this version' }).click();
    expect(await headline(page).inputValue()).toBe('The second version');
    await saved(page);
    // Stopping the live campaign also cancels its scheduled release, and the dialog says so.
    await button(page, 'Stop…').click();
    await page.getByText(/^Release \d+, scheduled for .* is canceled as well\.$/).waitFor();
    await button(page, 'Stop campaign').click();
    await page.getByText('lent is stopped.').waitFor();
    await notice(page).waitFor({ state: 'detached' });
    await close(page);
  });
});
