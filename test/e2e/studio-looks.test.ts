// Every screen, dialog and notice of the Studio, checked with axe: in all window sizes, both color schemes, large text.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLACEMENTS_PATH } from '../../src/protocol/index.ts';
import { aPng } from '../helpers/an-image.ts';
import { axeProblems, LOOKS } from '../helpers/axe-problems.ts';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';
import { simulateVisitors } from '../helpers/studio-week.ts';

const text = (value: string) => ({ type: 'string', value });
const SUMMER = {
  campaign_id: 'summer',
  name: 'Summer for gold',
  status: 'active',
  placements: ['home_hero'],
  priority: 'high',
  // It started last, so it is listed first.
  starts_at: new Date(Date.now() - 86_400_000).toISOString(),
  ends_at: new Date(Date.now() + 86_400_000).toISOString(),
  control_percentage: 20,
  target_sample_size: 150,
  conversions: [{ product: 'teapot', within_hours: 72 }],
  variants: [
    { variant_id: 'a', name: 'Kiln', properties: { headline: text('Summer is here') } },
    { variant_id: 'b', name: 'Shelf', properties: { headline: text('Last days of summer') } },
  ],
};

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
  const publish = async (campaign: object, based_on: number) => {
    const draft = await studio.call('PUT', '/api/drafts/summer', { campaign, based_on });
    const { revision } = draft;
    return studio.call('POST', '/api/releases', { campaign_id: 'summer', revision, note: 'For summer' });
  };
  const first = await publish(SUMMER, 0);
  await simulateVisitors(studio.serviceUrl, 200);
  await publish({ ...SUMMER, priority: 'medium' }, Number(first['release']));
  for (const [name, width] of [
    ['kiln.png', 640],
    ['a-name-that-an-agency-has-made-and-that-is-longer-than-its-image.png', 64],
  ] as const) {
    await studio.call('POST', '/api/images', { name, base64: aPng(width, 64).toString('base64') });
  }
  // A page reports that it has no place for a placement of the demo, which “why” then shows.
  await fetch(`${studio.serviceUrl}${PLACEMENTS_PATH}`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo-client-key', 'content-type': 'application/json' },
    body: '{"missing":["foot_strip"]}',
  });
  await studio.call('PUT', '/api/drafts/summer', {
    campaign: { ...SUMMER, name: 'Summer' },
    based_on: Number(first['release']) + 1,
  });
});
afterAll(() => studio?.stop());

type Screen = readonly [name: string, path: string, ready: (page: Page) => Promise<void>];

const dialog = async (page: Page, button: string | RegExp) => {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByRole('dialog').waitFor();
};

const SCREENS: readonly Screen[] = [
  ['the list', '/', (page) => page.getByText('Spring collection').waitFor()],
  ['the gallery of new campaigns', '/new', (page) => page.getByRole('button', { name: /^Choice/ }).waitFor()],
  ['a message', '/campaigns/gift-wrap', (page) => page.getByText('Can be published, with').waitFor()],
  [
    'an audience',
    '/campaigns/tea-lovers',
    async (page) => {
      await page.getByRole('tab', { name: /Audience/ }).click();
      await page.getByLabel('Product ID').waitFor();
    },
  ],
  [
    'a schedule',
    '/campaigns/summer-sale',
    async (page) => {
      await page.getByRole('tab', { name: /Schedule/ }).click();
      await page.getByLabel('Start', { exact: true }).waitFor();
    },
  ],
  [
    'a goal',
    '/campaigns/tea-lovers',
    async (page) => {
      await page.getByRole('tab', { name: /Goal/ }).click();
      await page.getByRole('button', { name: 'Add goal' }).waitFor();
    },
  ],
  [
    'a translation',
    '/campaigns/gift-wrap',
    async (page) => {
      await page.getByText('Translate it').click();
      await page.getByLabel('Translate into').fill('de');
      await page.getByRole('button', { name: 'Add German' }).click();
      await page.getByRole('radio', { name: /^German · \d missing/ }).waitFor();
      await page.getByText('Add a language, or work with translators').click();
      await page.getByText('German lacks').first().waitFor();
    },
  ],
  ['results', '/campaigns/gift-wrap/results', (page) => page.getByText('No impressions yet.').waitFor()],
  [
    'a history without a release',
    '/campaigns/gift-wrap/history',
    (page) => page.getByText('No release yet').waitFor(),
  ],
  ['explain', '/explain', (page) => page.getByText('reported a missing element').waitFor()],
  [
    'data, with a run and its rejects',
    '/data',
    async (page) => {
      const partial = page.getByText('Partial').first();
      // The page does not poll if it loads before the first scheduled run begins.
      const isShown = async () => {
        const shown = await partial.waitFor({ timeout: 2_000 }).then(
          () => true,
          () => false,
        );
        if (!shown) await page.reload();
        return shown;
      };
      await expect.poll(isShown, { timeout: 30_000 }).toBe(true);
      await page.getByRole('button', { name: 'Runs and rejects' }).first().click();
      await page.getByText('POINTS is not a number').waitFor();
    },
  ],
  [
    'a webhook, tested',
    '/data',
    async (page) => {
      await page.getByRole('button', { name: 'Send a test to Demo shop' }).click();
      await page
        .getByRole('row', { name: /Delivered \(204\) Test/ })
        .first()
        .waitFor();
    },
  ],
  [
    'the replay dialog',
    '/data',
    async (page) => {
      await page.getByRole('button', { name: 'Replay Demo shop' }).click();
      await page.getByRole('dialog').getByLabel('Since').waitFor();
    },
  ],
  ['segments', '/segments', (page) => page.getByRole('heading', { name: 'Segments', exact: true }).waitFor()],
  [
    'a segment in the editor',
    '/segments',
    async (page) => {
      await dialog(page, 'New segment');
      await page.getByRole('button', { name: 'Attribute' }).click();
    },
  ],
  ['access', '/access', (page) => page.getByText('with a key').first().waitFor()],
  ['an unknown page', '/nothing', (page) => page.getByText('Page not found').waitFor()],
  ['an unknown campaign', '/campaigns/nothing', (page) => page.getByText('Campaign not found').waitFor()],
  [
    'results with numbers',
    '/campaigns/summer/results',
    async (page) => {
      await page
        .getByText(/beats Kiln|undecided/)
        .first()
        .waitFor();
      await page.locator('.chart > svg').waitFor();
      await page.getByText('Show as table').click();
      await page.getByText('Metric definitions').click();
    },
  ],
  [
    'a history with releases',
    '/campaigns/summer/history',
    async (page) => {
      await page.getByText('All fields').click();
      await page.getByText('Target sample size').waitFor();
    },
  ],
  ['the rollback dialog', '/campaigns/summer/history', (page) => dialog(page, /^Restore/)],
  [
    'the publish dialog',
    '/campaigns/summer',
    async (page) => {
      await dialog(page, 'Publish…');
      await page.getByText(/^Overrides/).waitFor();
    },
  ],
  ['the stop dialog', '/', (page) => dialog(page, 'Stop Summer')],
  [
    'a preview link',
    '/campaigns/summer',
    async (page) => {
      await dialog(page, 'Preview on the site…');
      await page.getByRole('img', { name: /QR/ }).waitFor();
    },
  ],
  [
    'the image library',
    '/campaigns/gift-wrap',
    async (page) => {
      await dialog(page, 'Choose or upload an image for Image');
      await page.getByRole('button', { name: 'kiln.png 640 × 64' }).waitFor();
    },
  ],
  [
    'the crop dialog',
    '/campaigns/gift-wrap',
    async (page) => {
      await dialog(page, 'Choose or upload an image for Image');
      const buffer = aPng(640, 64);
      await page
        .getByLabel('Upload an image, or drop one here')
        .setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer });
      await page.getByRole('application', { name: 'Cropped area' }).waitFor();
    },
  ],
  [
    'the variable picker',
    '/campaigns/summer',
    (page) => page.getByRole('button', { name: 'Insert from the profile into Headline' }).click(),
  ],
  [
    'half-written JSON',
    '/campaigns/gift-wrap',
    async (page) => {
      await page.getByRole('tab', { name: /Audience/ }).click();
      await page.getByRole('button', { name: 'Edit as JSON' }).click();
      await page.getByLabel('Audience as JSON').fill('{');
      await page.getByText('Invalid JSON').waitFor();
    },
  ],
  [
    'a draft that a colleague changed',
    '/campaigns/come-back',
    async (page) => {
      await page.route('**/api/drafts/**', (route) =>
        route.fulfill({
          status: 412,
          json: {
            message: 'Draft was changed elsewhere',
            theirs: {
              campaign: { ...SUMMER, campaign_id: 'come-back' },
              revision: 'theirs',
              basedOn: 0,
              editor: 'Mia',
              at: '2026-03-02T09:00:00Z',
            },
          },
        }),
      );
      await page.getByLabel('Headline', { exact: true }).fill('Mine');
      await page.getByRole('button', { name: 'Keep mine' }).waitFor();
    },
  ],
];
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

describe.each(SCREENS)('%s', (_, path, ready) => {
  test('has no axe violations and fits every window, even with text of twice the size', async () => {
    // axe is an external script, which the page's policy would block.
    const page = await studio.open(path, { bypassCSP: true });
    await ready(page);
    for (const width of [1920, 768]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await overflow(page), `${width} pixels`).toBeLessThanOrEqual(0);
    }
    for (const { width, colorScheme } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      expect(await overflow(page), `${width} pixels`).toBeLessThanOrEqual(0);
      await page.emulateMedia({ colorScheme });
      // A target that is scrolled half below the bar of a campaign would count as half as large.
      await page.evaluate(() => scrollTo({ top: 0 }));
      // The visible text of a control is part of its name, for users of voice control.
      const problems = await axeProblems(page, ['label-content-name-mismatch']);
      expect(problems, `${width} pixels, ${colorScheme}`).toEqual([]);
    }
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%';
    });
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await overflow(page), `${width} pixels, large text`).toBeLessThanOrEqual(0);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll(':is(main, dialog) :is(button, a)')]
          .filter((each) => each.checkVisibility() && !each.closest('.table-box'))
          .filter((each) => each.getBoundingClientRect().right > innerWidth)
          .map((each) => each.textContent),
      );
      expect(cut, `out of a window of ${width} pixels, large text`).toEqual([]);
    }
    await page.context().close();
  });
});

test('fits the audit entry of an image on a tablet by wrapping its hash, without hiding columns', async () => {
  const page = await studio.open('/access', { viewport: { width: 768, height: 900 } });
  await page.getByText('image.upload').first().waitFor();
  const audit = page.getByRole('region', { name: 'Audit' });
  expect(await audit.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await page.context().close();
});
