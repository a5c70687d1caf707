// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
// A marketer's week in the Studio, in a real browser: from sign-in with the key to the audit log. Every run plays it on two
// replicas on PostgreSQL; the nightly run plays it on SQLite too, on which all other tests of the Studio in a browser run.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { mixtureInterval } from '../helpers/mixture-interval.ts';
import { patience } from '../helpers/patience.ts';
import { nightly } from '../helpers/property.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { STORES } from '../helpers/running-service.ts';
import { openPreviewLink, simulateVisitors } from '../helpers/studio-week.ts';

const VISITORS = 600;
/** 10% of the visitors are held out, and do not count as having seen it. */
const PLANNED = 500;

let browser: Browser;
beforeAll(async () => {
  browser = await launchShell();
});
afterAll(() => browser?.close());

/** Local date and time in the form `2026-03-02T09:00`, the given number of days from now. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16);

const signIn = async (url: string): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
  await page.goto(url);
  await page.getByLabel('Operator key').fill('demo-operator-key');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
  return page;
};
const saved = (page: Page) => page.getByText('Draft saved').waitFor();
const frame = (page: Page) => page.frameLocator('iframe');

describe.each(STORES)('the week on $name', ({ name, address }) => {
  let demo: RunningDemo;
  let replica: RunningDemo | null = null;
  beforeAll(async () => {
    const db = await address();
    demo = await runDemo({ db });
    // A file in memory belongs to one process; a database is shared.
    if (db !== ':memory:') replica = await runDemo({ db });
  });
  afterAll(async () => {
    await replica?.stop();
    await demo?.stop();
  });

  test('goes from a copy of last season’s campaign to the results of this one', {
    timeout: patience(300_000),
    ...(name === 'SQLite' && nightly()),
  }, async () => {
    const page = await signIn(demo.studioUrl);

    // Monday: a copy of the spring campaign, with two variants.
    await page.getByRole('button', { name: 'Duplicate Spring collection' }).click();
    await page.getByRole('heading', { name: 'Spring collection (copy)' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Summer for gold');
    await page
      .getByLabel('Headline', { exact: true })
      .fill('Summer is here, {{${first_name} | default: "friend"}}');
    await frame(page).getByText('Summer is here, friend').waitFor();
    await page.getByRole('radio', { name: 'shelf' }).check();
    await page.getByLabel('Headline', { exact: true }).fill('Last days of summer');
    await frame(page).getByText('Last days of summer').waitFor();
    await page.getByLabel('Weight').fill('60');
    await page.getByLabel('Control group (%)').fill('10');
    await page.getByText('Control 10%').waitFor();

    // Gold customers only, with the highest priority.
    await page.getByRole('tab', { name: /Audience/ }).click();
    await page.getByRole('button', { name: 'Attribute', exact: true }).click();
    await page.getByLabel('Attribute', { exact: true }).fill('tier');
    await page.getByLabel('Value').fill('gold');
    await page.getByText('Users who match: tier is gold.').waitFor();
    await page
      .getByText(/\d+ of \d+ users/)
      .first()
      .waitFor();

    // From yesterday to in four days, in the shop's time zone.
    await page.getByRole('tab', { name: /Schedule/ }).click();
    await page.getByText('All times are in Europe/Berlin').waitFor();
    await page.getByLabel('Start', { exact: true }).fill(inDays(-1));
    await page.getByLabel('End', { exact: true }).fill(inDays(4));
    await page.getByRole('radio', { name: 'High' }).check();
    await page.getByLabel('Max impressions').fill('3');

    await page.getByRole('tab', { name: /Goal/ }).click();
    await page.getByRole('button', { name: 'Add goal' }).click();
    await page.getByLabel('They').selectOption('buy');
    await page.getByLabel('Product ID').fill('teapot');
    await page.getByLabel(/Target sample size/).fill(String(PLANNED));
    await saved(page);

    // A reload loses no edit.
    await page.reload();
    await page.getByRole('heading', { name: 'Summer for gold' }).waitFor();

    // Preview on the shop, by link.
    await page.getByRole('button', { name: /Preview on the site/ }).click();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    const link = (await page.getByRole('link', { name: 'Open', exact: true }).getAttribute('href'))!;
    expect(link.startsWith(`${demo.url}/#`)).toBe(true);
    expect(await openPreviewLink((replica ?? demo).url, link)).toEqual({
      status: 200,
      headline: 'Summer is here, friend',
      isTestSend: true,
    });
    const shop = await browser.newPage();
    await shop.goto(link);
    const drafted = shop.getByText('Summer is here, friend');
    await drafted.first().waitFor();
    expect(new URL(shop.url()).search).toBe('');
    await shop.getByRole('button', { name: 'End preview' }).click();
    await expect.poll(() => drafted.count()).toBe(0);
    await shop.close();
    await page.getByRole('button', { name: 'Close' }).click();

    // Publish, with a summary of the effects and a note.
    expect(await demo.headlineFor('gold-visitor', 'home_hero')).not.toMatch(/summer/i);
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Publish/ });
    await dialog.getByText(/^Overrides .*“Spring collection”/).waitFor();
    await dialog.getByLabel('Note for the history').fill('For the summer week');
    const gold = await goldAt(replica ?? demo);
    await dialog.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText(/Release 1 is live/).waitFor();

    // All replicas follow: they poll once a second.
    await expect.poll(gold).toBe('Summer for gold');

    // The week passes.
    const { a, b, held } = await simulateVisitors((replica ?? demo).url, VISITORS);
    const exposed = a.n + b.n;
    expect(exposed + held).toBe(VISITORS);
    // The draft is published: its preview link no longer shows anything.
    expect(await openPreviewLink(demo.url, link)).toEqual({ status: 404 });

    // Friday: read the results.
    await page.getByRole('link', { name: 'Results' }).click();
    const { low, high } = mixtureInterval(b, a, { planned: PLANNED });
    expect(low).toBeGreaterThan(0);
    const [least, most] = [low, high].map((share) => (share * 100).toFixed(1));
    await page.getByRole('heading', { name: 'No significant difference.' }).waitFor();
    for (const [against, people] of [
      ['of shelf against kiln', exposed],
      ['against the control group', VISITORS],
    ]) {
      await page.getByText(`Purchases of “teapot” ${against}: undecided, ${people} users.`).waitFor();
    }
    await page
      .getByRole('row', { name: /^Clicked shelf vs kiln/ })
      .getByText(`+${least} to +${most} percentage points`)
      .waitFor();
    await page
      .getByRole('table')
      .first()
      .getByRole('row', { name: /Control group/ })
      .getByText(String(held))
      .first()
      .waitFor();
    await page.locator('.chart > svg').waitFor();

    // The campaign list shows the number of exposed users.
    await page.getByRole('link', { name: 'Campaigns', exact: true }).first().click();
    await page.getByText(String(exposed), { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Summer for gold' }).click();

    // Publish a bad change, and roll it back.
    await page.getByRole('link', { name: 'Campaign', exact: true }).click();
    await page.getByLabel('Headline', { exact: true }).fill('Sumer');
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText(/Release 2 is live/).waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: 'Release 2 Live' }).waitFor();
    await page.getByRole('button', { name: /^Restore/ }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('heading', { name: 'Release 3 Live' }).waitFor();

    // The audit log.
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    for (const action of [
      'operator.sign_in',
      'preview_link.create',
      'campaign.publish',
      'campaign.rollback',
    ]) {
      await page.getByRole('cell', { name: action, exact: true }).first().waitFor();
    }
    await page.close();
  });
});

/** Requests, as the Studio's page does, the banner of a gold customer on the home page. */
const goldAt = async ({ studioUrl }: RunningDemo): Promise<() => Promise<string | undefined>> => {
  const headers = { origin: studioUrl, 'content-type': 'application/json' };
  const login = await fetch(`${studioUrl}/api/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key: 'demo-operator-key' }),
  });
  const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
  return async () => {
    const answer = await fetch(`${studioUrl}/api/explain`, {
      method: 'POST',
      headers: { ...headers, cookie },
      body: JSON.stringify({ person: { persona: 'Jonas, gold member' } }),
    });
    const { placements } = await answer.json();
    const campaigns: { name: string; outcome: string }[] = placements['home_hero'];
    return campaigns.find(({ outcome }) => outcome === 'shown')?.name;
  };
};
