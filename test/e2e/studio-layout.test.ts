// Layout of the Studio's screens: the controls that an operator needs are visible and not cut off.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';
import { simulateVisitors } from '../helpers/studio-week.ts';

const text = (value: string) => ({ type: 'string', value });
const getCampaign = (id: string, more: Record<string, unknown> = {}) => ({
  campaign_id: id,
  name: id,
  status: 'active',
  placements: ['home_hero'],
  variants: [{ variant_id: 'a', properties: { headline: text('Summer is here') } }],
  ...more,
});

let studio: StudioBrowser;
const draft = (id: string, based_on = 0, more: Record<string, unknown> = {}) =>
  studio.call('PUT', `/api/drafts/${id}`, { campaign: getCampaign(id, more), based_on });
const publish = async (id: string, more: Record<string, unknown> = {}) => {
  const { revision } = await draft(id, 0, more);
  return studio.call('POST', '/api/releases', { campaign_id: id, revision, note: '' });
};
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const close = (page: Page) => page.context().close();

test.each([
  [1280, 800],
  [1280, 900],
])('shows the checks of a draft without scrolling, at %i × %i', async (width, height) => {
  await draft('checked', 0, { audience: { no_such_attribute: 'yes' } }).catch(() => undefined);
  const page = await studio.open('/campaigns/checked', { viewport: { width, height } });
  const checks = page.locator('.checks');
  await checks.getByText('No users match this audience.').waitFor();
  const { y, height: own } = (await checks.boundingBox())!;
  expect(y + own).toBeLessThanOrEqual(height);
  await close(page);
});

test.each([360, 768, 1280])(
  'does not truncate the name of a nested attribute, at %i pixels',
  async (width) => {
    const name = 'newsletter_account.tier';
    const id = `nested-${width}`;
    await draft(id, 0, { audience: { [name]: 'gold' } });
    const page = await studio.open(`/campaigns/${id}`, { viewport: { width, height: 800 } });
    await page.getByRole('tab', { name: /Audience/ }).click();
    const input = page.locator(`.condition input`).first();
    await expect.poll(() => input.inputValue()).toBe(name);
    const [room, needed] = await input.evaluate((field: HTMLInputElement) => {
      const style = getComputedStyle(field);
      const brush = document.createElement('canvas').getContext('2d')!;
      brush.font = style.font;
      const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight);
      // The arrow of a suggestion list is beside the text.
      return [field.clientWidth - padding - 20, brush.measureText(field.value).width];
    });
    expect(room).toBeGreaterThanOrEqual(needed!);
    await close(page);
  },
);

test('fits the navigation on one line on a phone and marks the current page', async () => {
  const page = await studio.open('/access', { viewport: { width: 360, height: 740 } });
  const links = page.getByRole('navigation', { name: 'Studio' }).getByRole('link');
  const tops = await links.evaluateAll((all) => all.map((link) => link.getBoundingClientRect().top));
  expect(tops.length).toBeGreaterThanOrEqual(5);
  expect(new Set(tops).size).toBe(1);
  const current = (await page.locator('.shell-nav [aria-current]').boundingBox())!;
  expect(current.x + current.width).toBeLessThanOrEqual(360);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await close(page);
});

test.each([360, 768, 900, 1280])(
  'shows all actions of a campaign in the list, at %i pixels',
  async (width) => {
    const page = await studio.open('/', { viewport: { width, height: 800 } });
    await page.getByText('Spring collection').waitFor();
    const box = (await page.locator('.list').boundingBox())!;
    const ends = await page
      .locator('.list-actions .button')
      .evaluateAll((all) => all.map((button) => button.getBoundingClientRect().right));
    expect(ends.length).toBeGreaterThan(10);
    expect(Math.max(...ends)).toBeLessThanOrEqual(box.x + box.width);
    await close(page);
  },
);

test('does not show a run for a source without runs', async () => {
  const page = await studio.open('/data');
  const listed = page.getByRole('listitem').filter({ hasText: 'only listed in the workspace file' });
  await listed.first().waitFor();
  const words = await listed.allTextContents();
  expect(words.filter((each) => /began|Success|Running|Error/.test(each))).toEqual([]);
  await page.getByText('Loyalty from the cash desks').waitFor();
  await close(page);
});

describe('changes of a publication', () => {
  test('show fully new text as two texts, and a changed word in place', async () => {
    const variant = (headline: string, body: string) => ({
      variants: [{ variant_id: 'a', properties: { headline: text(headline), body: text(body) } }],
    });
    const old = 'Our summer sale for the garden begins on Monday with a discount';
    const fresh = 'Hand-made teapots by a young potter from the north, glazed in blue';
    const { release } = await publish('rewritten', variant(old, 'Only this week'));
    await draft('rewritten', Number(release), variant(fresh, 'Only this month'));
    const page = await studio.open('/campaigns/rewritten');
    await page.getByRole('button', { name: 'Publish…' }).click();
    const row = (label: string) => page.getByRole('dialog').locator('.change', { hasText: label });
    await expect.poll(() => row('Body').locator('del').allTextContents()).toEqual(['week']);
    expect(await row('Headline').locator('del').allTextContents()).toEqual([old]);
    expect(await row('Headline').locator('ins').allTextContents()).toEqual([fresh]);
    await close(page);
  });
});

describe('results', () => {
  test('of a test with a rolled-out winner keep the name of the loser, do not report an SRM, and refresh', async () => {
    const variants = [
      { variant_id: 'a', name: 'Kiln', properties: { headline: text('Summer is here') } },
      { variant_id: 'b', name: 'Shelf', properties: { headline: text('Last days of summer') } },
    ];
    const more = {
      priority: 'high',
      starts_at: new Date(Date.now() - 30_000).toISOString(),
      control_percentage: 20,
      variants,
    };
    await publish('tested', more);
    await simulateVisitors(studio.serviceUrl, 120);
    const page = await studio.open('/campaigns/tested');
    await page.getByRole('radio', { name: /^Kiln/ }).check();
    await page.getByRole('button', { name: 'Remove Kiln' }).click();
    await page.getByText('Draft saved').waitFor();
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText(/^Release \d+ is live/).waitFor();
    await page.clock.install();
    await page.goto(`${studio.url}/campaigns/tested/results`);
    await page.getByText('Edited while running').waitFor();
    const table = page.getByRole('region', { name: 'Results by variant' });
    await table.waitFor();
    const heads = await table.locator('tbody th').allTextContents();
    expect(heads.toSorted()).toEqual(['Control group', 'Kiln (removed)', 'Shelf']);
    expect(await page.getByRole('heading', { name: 'Sample ratio mismatch' }).count()).toBe(0);

    // Refreshed every minute.
    await page.getByText(/^As of \w+ \d+ \w+, \d\d:\d\d$/).waitFor();
    const before = await table.textContent();
    await simulateVisitors(studio.serviceUrl, 2);
    const refresh = async () => {
      await page.clock.fastForward(60_000);
      return table.textContent();
    };
    await expect.poll(refresh).not.toBe(before);
    await close(page);
  });
});

test('Why lists the first twenty campaigns of a placement and the shown one, and all on request', async () => {
  await publish('rank-1', { priority: 'low' });
  for (let rank = 25; rank > 1; rank -= 1)
    await publish(`rank-${rank}`, { priority: 'high', audience: { tier: `none-${rank}` } });
  const page = await studio.open('/explain');
  const hero = page.getByRole('region', { name: 'Home hero' });
  await hero.getByText('Shown', { exact: true }).waitFor();
  const rows = hero.locator('.why-list > li');
  expect(await rows.count()).toBeLessThanOrEqual(21);
  await hero.getByRole('button', { name: /^Show all \d+ campaigns$/ }).click();
  await hero.getByText('rank-1', { exact: true }).waitFor();
  expect(await rows.count()).toBeGreaterThan(25);
  await close(page);
});
