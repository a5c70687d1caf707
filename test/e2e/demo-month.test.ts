// The made-up month of `npm start`: what a marketer finds in the Studio at the first look, on each store.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReleasesAnswer } from '../../src/studio/server/routes/releases.ts';
import type { ResultsAnswer } from '../../src/studio/server/routes/results.ts';
import { launchShell } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { STORES } from '../helpers/running-service.ts';

const signIn = async (url: string): Promise<(path: string) => Promise<unknown>> => {
  const signedIn = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'demo-operator-key' }),
  });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  return async (path) => (await fetch(url + path, { headers: { cookie } })).json();
};

/** People of each arm of the spring collection, by store: everyone is the same everywhere. */
const counted: Record<string, unknown> = {};

describe.each(STORES)('the month on $name', ({ name, address }) => {
  let db: string;
  let demo: RunningDemo;
  let read: (path: string) => Promise<unknown>;
  const results = async (id: string) => (await read(`/api/results/${id}`)) as ResultsAnswer;
  beforeAll(async () => {
    db = await address();
    demo = await runDemo({ db, makesMonth: true });
    read = await signIn(demo.studioUrl);
  });
  afterAll(() => demo?.stop());

  test('has an experiment with a winner', async () => {
    const { headline, arms, days } = await results('spring-collection');
    expect(headline.words).toBe('Shelf beats kiln in “added_to_cart”.');
    expect(days.length).toBeGreaterThan(50);
    counted[name] = arms.map(({ exposed, clicked, dismissed, goals }) => [
      exposed,
      clicked,
      dismissed,
      goals,
    ]);
  });

  test('has a campaign in two languages, each with its results', async () => {
    const { languages } = await results('spring-collection');
    expect([...new Set(languages.map(({ language }) => language))]).toEqual(['de', 'en']);
    for (const { exposed } of languages) expect(exposed).toBeGreaterThan(100);
  });

  test('has a control group, and what it would have bought anyway', async () => {
    const { headline, arms, comparisons } = await results('gift-wrap');
    expect(arms.map(({ variantId }) => variantId)).toEqual(['gift', null]);
    expect(arms[1]!.exposed).toBeGreaterThan(200);
    expect(comparisons.map(({ metric }) => metric)).toContain('revenue 0');
    expect(headline.words).toBe('Gift beats the control group in purchases of “candle”.');
  });

  test('has a test whose groups are not as large as they should be', async () => {
    expect((await results('delivery-test')).ratio?.isSuspicious).toBe(true);
    expect((await results('spring-collection')).ratio?.isSuspicious).toBe(false);
  });

  test('has a history with a way back', async () => {
    const { releases } = (await read('/api/releases?campaign=spring-collection')) as ReleasesAnswer;
    expect(releases.map(({ note }) => note)).toEqual([
      'There never was a discount. Back to what it said.',
      'Louder, for the weekend.',
      'Kiln or shelf? The shelf should fill more carts.',
    ]);
    expect(releases[0]!.campaign).toEqual(releases[2]!.campaign);
  });

  test('leaves the shop as it is without a month', async () => {
    expect(await demo.headlineFor('mira', 'home_hero')).toMatch(/Mira/);
    expect(await demo.headlineFor('mira', 'checkout_strip')).toBe('Free delivery from 60');
  });

  test('is made once: a second start on its database adds nothing', async () => {
    if (db === ':memory:') return;
    const before = await read('/api/numbers');
    const again = await runDemo({ db, makesMonth: true });
    expect(await (await signIn(again.studioUrl))('/api/numbers')).toEqual(before);
    await again.stop();
  });
});

test('the people of the month are the same on every store', () => {
  const [first, ...others] = Object.values(counted);
  expect(first).toBeDefined();
  for (const other of others) expect(other).toEqual(first);
});

test('a marketer sees numbers, days and differences at the first look, and that the people are made up', async () => {
  const demo = await runDemo({ makesMonth: true });
  const browser = await launchShell();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    await page.goto(demo.studioUrl);
    await page.getByLabel('Operator key').fill('demo-operator-key');
    await page.keyboard.press('Enter');
    await page.getByText('Demo shop, with made-up people').waitFor();
    await page
      .getByText(/^[\d,]+ people/)
      .first()
      .waitFor();
    await page.goto(`${demo.studioUrl}/campaigns/spring-collection/results`);
    await page.getByRole('heading', { name: /^Shelf beats kiln/ }).waitFor();
    await page.getByRole('heading', { name: 'By language' }).waitFor();
    await page.locator('.chart canvas').waitFor();
    await page
      .getByRole('row', { name: /shelf against kiln/ })
      .first()
      .waitFor();
    await page.goto(`${demo.studioUrl}/campaigns/delivery-test/results`);
    await page.getByRole('heading', { name: 'The groups are not as large as they should be' }).waitFor();
  } finally {
    await browser.close();
    await demo.stop();
  }
});
