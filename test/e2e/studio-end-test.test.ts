// The end of an A/B test: the result stays, everyone gets the winner, and later events are counted separately.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeProblems } from '../helpers/axe-problems.ts';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';
import { simulateVisitors } from '../helpers/studio-week.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const VISITORS = 40;

const variant = (variant_id: string, name: string, value: string) => ({
  variant_id,
  name,
  properties: { headline: { type: 'string', value } },
});

test('ends a test from its results, rolls out the winner and keeps the control group', async () => {
  const campaign = {
    campaign_id: 'duel',
    name: 'Duel',
    status: 'active',
    priority: 'high',
    placements: ['home_hero'],
    control_percentage: 20,
    variants: [variant('a', 'Plain', 'First days'), variant('b', 'Urgent', 'Last days')],
  };
  await studio.call('PUT', '/api/drafts/duel', { campaign, based_on: 0 });
  const { draft } = await studio.read('/api/campaigns/duel');
  const { revision } = draft as { revision: string };
  await studio.call('POST', '/api/releases', { campaign_id: 'duel', revision, note: '' });
  const first = await simulateVisitors(studio.serviceUrl, VISITORS);

  const page = await studio.open('/campaigns/duel/results');
  const counts = page.getByRole('region', { name: 'Results by variant' });
  const cell = (name: string) => counts.getByRole('row', { name }).getByRole('cell').first();
  await counts.waitFor();
  expect(await cell('Urgent').innerText()).toBe(String(first.b.n));
  await page.getByRole('button', { name: 'End test…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Urgent' }).check();
  expect(await dialog.getByRole('checkbox', { name: 'Keep control group (20%)' }).isChecked()).toBe(true);
  expect(await axeProblems(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'End test and roll out Urgent' }).click();

  const ended = page.getByRole('region', { name: 'Test ended', exact: true });
  await ended.getByRole('heading', { name: 'Test ended: Urgent rolled out' }).waitFor();
  expect(await page.getByRole('button', { name: 'End test…' }).count()).toBe(0);
  const second = await simulateVisitors(studio.serviceUrl, VISITORS);
  expect(second).toMatchObject({ a: { n: 0 }, b: { n: first.a.n + first.b.n }, held: first.held });

  const views = ended
    .getByRole('row', { name: /^Urgent/ })
    .getByRole('cell')
    .nth(1);
  await expect
    .poll(async () => {
      await page.reload();
      return views.innerText();
    })
    .toBe(String(second.b.n));
  expect(await cell('Plain').innerText()).toBe(String(first.a.n));
  expect(await cell('Urgent').innerText()).toBe(String(first.b.n));
  expect(await page.getByText('Sample ratio mismatch').count()).toBe(0);
  expect(await axeProblems(page)).toEqual([]);

  await page.getByRole('link', { name: 'Campaign', exact: true }).click();
  await page.locator('.checks').getByText('Set an end or a target sample size.').waitFor();
  expect(await page.locator('.checks').getByText('Its share is 0%').count()).toBe(0);
  expect(await page.getByLabel('Headline', { exact: true }).inputValue()).toBe('Last days');
  await page.context().close();
});
