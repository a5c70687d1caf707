// A campaign for users who performed, or did not perform, an event in another campaign.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axeProblems } from '../helpers/axe-problems.ts';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

test('builds an audience condition that survives a reload', async () => {
  const campaign = {
    campaign_id: 'again',
    name: 'Again',
    status: 'active',
    placements: ['home_hero'],
    variants: [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'Still there' } } }],
  };
  await studio.call('PUT', '/api/drafts/again', { campaign, based_on: 0 });
  const page = await studio.open('/campaigns/again#audience');
  await page
    .getByRole('tab', { name: /^Audience/ })
    .or(page.getByRole('link', { name: /^Audience/ }))
    .first()
    .click();
  await page.getByRole('button', { name: 'Campaign', exact: true }).click();
  await page.getByRole('combobox', { name: /^Users who/ }).selectOption({ label: 'not: clicked' });
  const other = page.getByRole('combobox', { name: /^Campaign/ });
  const name = (await other.locator('option').allTextContents())[1]!;
  await other.selectOption({ label: name });
  await page.getByLabel('Within days').fill('14');
  await page.getByText(`not: clicked campaign “${name}” in the last 14 days`).waitFor();
  await page.getByText('Draft saved').waitFor();
  expect(await axeProblems(page)).toEqual([]);
  const { draft } = await studio.read('/api/campaigns/again');
  const { audience } = (draft as { campaign: { audience: Record<string, unknown> } }).campaign;
  expect(Object.keys(audience)).toEqual([expect.stringMatching(/^campaigns\..+\.last_click_days_ago$/)]);
  expect(Object.values(audience)).toEqual([{ $not: { $lte: 14 } }]);
  await page.reload();
  await page.getByText(`not: clicked campaign “${name}” in the last 14 days`).waitFor();

  await page.getByRole('combobox', { name: /^Users who/ }).selectOption({ label: 'saw' });
  await page.getByText('Draft saved').waitFor();
  const { draft: saved } = await studio.read('/api/campaigns/again');
  const { revision } = saved as { revision: string };
  await studio.call('POST', '/api/releases', { campaign_id: 'again', revision, note: '' });
  await page.goto(`${studio.url}/explain`);
  const skipped = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Again' }) });
  await skipped.getByText(`Requires: saw campaign “${name}” in the last 14 days.`, { exact: true }).waitFor();
  await page.context().close();
});
