// The Studio's pages in a real browser, with a keyboard, a screen reader, a phone and two editors.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStudioBrowser, type StudioBrowser } from '../helpers/studio-browser.ts';

let studio: StudioBrowser;
beforeAll(async () => {
  studio = await openStudioBrowser();
});
afterAll(() => studio?.stop());

const open = (path?: string, options?: BrowserContextOptions) => studio.open(path, options);
const close = (page: Page) => page.context().close();
const headline = (page: Page) => page.getByLabel('Headline', { exact: true });
const saved = (page: Page) => page.getByText('Draft saved').waitFor();

describe('the pages', () => {
  test('do not violate their Content Security Policy, and request only images from other sites', async () => {
    const page = await open('/campaigns/gift-wrap');
    const violations: string[] = [];
    const asked = new Set<string>();
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML|violates/i.test(message.text()))
        violations.push(message.text());
    });
    page.on('request', (request) => {
      if (request.resourceType() !== 'image') asked.add(new URL(request.url()).origin);
    });
    await headline(page).fill('x');
    await page.getByRole('button', { name: /Preview on the site/ }).click();
    await page.getByRole('img', { name: /QR/ }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Results' }).click();
    await page.getByText('No impressions yet.').waitFor();
    expect(violations).toEqual([]);
    expect([...asked]).toEqual([studio.url]);
    await close(page);
  });

  test('support keyboard-only use: a headline, a check, a publication', async () => {
    const page = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => location.hash)).toBe('#main');
    await page.getByRole('link', { name: 'Free delivery' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Free delivery' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    await page.getByRole('tab', { name: 'Message' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { name: 'Audience' }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowLeft');
    await headline(page).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    await page.getByLabel('Body', { exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Backspace');
    // The list of checks changes until the server has checked both changes.
    await page.getByText('Add a headline, a body or an image.').first().waitFor();
    const check = page.getByRole('button', { name: 'Headline', exact: true });
    await check.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('property-headline');
    await page.keyboard.type('Delivered free');
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Publish…');
    await close(page);
  });

  test('give every control 44 pixels on a phone', async () => {
    const page = await open('/campaigns/gift-wrap', {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
    await page.getByText('Can be published, with').waitFor();
    const small = await page.evaluate(() =>
      [
        ...document.querySelectorAll<HTMLElement>(
          'button:not(.link), select, input:not([type=radio], [type=checkbox]), textarea, nav a',
        ),
      ]
        .filter((each) => each.checkVisibility())
        .map(
          (each) => [each.textContent || each.id, Math.round(each.getBoundingClientRect().height)] as const,
        )
        .filter(([, height]) => height < 44),
    );
    expect(small).toEqual([]);
    await close(page);
  });

  test('show the selection in forced colors', async () => {
    const page = await open('/campaigns/spring-collection', { forcedColors: 'active' });
    await page.getByRole('radio', { name: 'kiln' }).waitFor();
    const getLooks = (selector: string) =>
      page.locator(selector).evaluateAll((all) =>
        all.map((each) => {
          const { backgroundColor, outlineStyle } = getComputedStyle(each);
          return `${backgroundColor} ${outlineStyle}`;
        }),
      );
    for (const group of ['Variant', 'Width', 'Page']) {
      const looks = await getLooks(`fieldset:has(legend:text-is("${group}")) label span`);
      expect(new Set(looks).size, group).toBe(2);
    }
    for (const tabs of ['.shell-nav a', '.tabs a', '.edit-sections button']) {
      expect(new Set(await getLooks(tabs)).size, tabs).toBe(2);
    }
    await close(page);
  });

  test('start the preview in the upper half of a laptop’s window, and keep it visible to the last field', async () => {
    const page = await open('/campaigns/gift-wrap');
    const preview = page.getByRole('region', { name: 'Preview' });
    expect((await preview.boundingBox())!.y).toBeLessThan(400);
    await page.getByLabel('Image description').scrollIntoViewIfNeeded();
    const { y, height } = (await preview.boundingBox())!;
    expect(y + height).toBeGreaterThan(400);
    await close(page);
  });

  test('keep the top of the preview visible at the end of the form, in a window of 1280 by 800', async () => {
    const page = await open('/campaigns/spring-collection', { viewport: { width: 1280, height: 800 } });
    const preview = page.getByRole('region', { name: 'Preview' });
    await page.frameLocator('iframe').getByRole('link').waitFor();
    await page.evaluate(() => scrollTo({ top: document.documentElement.scrollHeight }));
    await expect.poll(async () => (await preview.boundingBox())!.y).toBeGreaterThanOrEqual(0);
    await page.getByText('Placement, template and stress tests').click();
    await page.getByRole('checkbox', { name: 'Long words' }).check();
    expect(await page.getByRole('checkbox', { name: 'Long words' }).isChecked()).toBe(true);
    await close(page);
  });

  test('render the whole banner at each chosen width', async () => {
    const page = await open('/campaigns/free-delivery');
    await page.frameLocator('iframe').getByRole('link').waitFor();
    await page.getByText('Placement, template and stress tests').click();
    await page.getByRole('radio', { name: 'Hero' }).check();
    for (const width of ['360', '768', '1280', '360']) {
      await page.getByRole('radio', { name: width }).check();
      const cutOff = () =>
        page.locator('.glass iframe').evaluate((frame: HTMLIFrameElement) => {
          const { clientHeight, contentDocument } = frame;
          return contentDocument!.querySelector('.slot')!.getBoundingClientRect().bottom - clientHeight;
        });
      await expect.poll(cutOff, { message: `at ${width}` }).toBeLessThanOrEqual(0);
    }
    await close(page);
  });

  test('keep the link to the site in place while the preview renders', async () => {
    const page = await open();
    const held = Promise.withResolvers<void>();
    await page.route('**/preview.html', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Spring collection' }).click();
    const button = page.getByRole('button', { name: /Preview on the site/ });
    const before = await button.boundingBox();
    held.resolve();
    await page
      .frameLocator('iframe')
      .getByText(/Fresh from the kiln/)
      .first()
      .waitFor();
    expect(await button.boundingBox()).toEqual(before);
    await close(page);
  });

  test('keep names of any length and direction inside their boxes', async () => {
    const page = await open('/campaigns/winter-clearance');
    const name = `${'Donaudampfschifffahrtsgesellschaft'.repeat(5)} مرحبا`;
    await page.getByLabel('Name', { exact: true }).fill(name);
    await saved(page);
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0);
    }
    await close(page);
  });
});

describe('an editor', () => {
  test('undoes and redoes, and keeps unsaved changes while offline', async () => {
    const page = await open('/campaigns/come-back');
    const before = await headline(page).inputValue();
    await headline(page).fill('One');
    await saved(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await headline(page).inputValue()).toBe(before);
    await page.getByRole('button', { name: 'Redo' }).click();
    expect(await headline(page).inputValue()).toBe('One');
    await saved(page);
    await page.route('**/api/drafts/**', (route) => route.abort());
    await headline(page).fill('Two, without a connection');
    await page.getByText(/^Unsaved changes/).waitFor();
    await page.unroute('**/api/drafts/**');
    await page.reload();
    await expect.poll(() => headline(page).inputValue()).toBe('Two, without a connection');
    const stored = () =>
      page.evaluate(async () => {
        const row = await (await fetch('/api/campaigns/come-back')).json();
        return row.draft.campaign.variants[0].properties.headline.value;
      });
    await expect.poll(stored).toBe('Two, without a connection');
    await close(page);
  });

  test('moves the keyboard focus on when the focused button disappears', async () => {
    const page = await open('/campaigns/gift-wrap');
    const focus = () => page.evaluate(() => document.activeElement?.tagName);
    const press = async (name: string, within: Page | Locator = page) => {
      await within.getByRole('button', { name }).focus();
      await page.keyboard.press('Enter');
    };
    await headline(page).fill('One');
    await press('Undo');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Undo');
    // At once, before the undo is saved.
    await press('Discard');
    await press('Discard', page.getByRole('dialog'));
    await page.getByText('Published', { exact: true }).waitFor();
    expect(await focus()).toBe('MAIN');
    await headline(page).fill('Two');
    await saved(page);
    await press('Publish…');
    await press('Publish now');
    await page.getByText('Published', { exact: true }).waitFor();
    expect(await focus()).toBe('MAIN');
    await page.getByRole('link', { name: 'Campaigns', exact: true }).first().click();
    await press('Stop Gift wrapping, ten per cent held out');
    await press('Stop campaign');
    await page.getByText('held out is stopped').waitFor();
    // The next action replaces the pressed button, and gets the focus.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Archive');
    await close(page);
  });

  test('focuses an added condition, goal and property before the next event', async () => {
    const page = await open('/campaigns/gift-wrap');
    /** The focused element in the microtask after the click, when no timer has run. */
    const afterClick = (button: Locator) =>
      button.evaluate(async (element: HTMLElement) => {
        element.click();
        await Promise.resolve();
        return document.activeElement?.id;
      });
    const add = (name: string) => page.getByRole('button', { name, exact: true });
    await page.getByText('More: theme, close button, other properties').click();
    await page.getByLabel('Another property').fill('its_name');
    expect(await afterClick(add('Add'))).toBe('property-its_name');
    await page.getByRole('tab', { name: /Audience/ }).click();
    expect(await afterClick(add('Attribute'))).toBe('condition-0');
    await add('Remove condition').click();
    await page.getByRole('tab', { name: /Goal/ }).click();
    expect(await afterClick(add('Add goal'))).toBe('goal-0');
    await close(page);
  });

  test('is notified of another editor of the same draft, sees both versions, and chooses one', async () => {
    const [one, other] = [await open('/campaigns/gold-preview'), await open('/campaigns/gold-preview')];
    await headline(one).fill('Of one');
    await saved(one);
    await headline(other).fill('Of the other');
    await other.getByRole('alert').getByText('You changed this draft in another window at').waitFor();
    const changes = other.locator('.notice .changes');
    await changes.getByText('Of one').or(changes.getByText('one')).first().waitFor();
    await other.getByRole('button', { name: 'Keep mine' }).click();
    await saved(other);
    await one.bringToFront();
    await one.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await one.getByRole('button', { name: 'Use saved version' }).click();
    expect(await headline(one).inputValue()).toBe('Of the other');
    await Promise.all([close(one), close(other)]);
  });

  test('shows Arabic beside Liquid in order, and stores the typed text', async () => {
    const page = await open('/campaigns/arabic-welcome');
    await headline(page).fill("مرحبا {{${first_name} | default: 'بك'}} اليوم");
    await saved(page);
    expect(await headline(page).inputValue()).toContain('\u2066{{');
    await page.frameLocator('iframe').getByText('مرحبا بك اليوم').waitFor();
    const { body } = await page.evaluate(async () => ({
      body: await (await fetch('/api/campaigns/arabic-welcome')).json(),
    }));
    expect(body.draft.campaign.variants[0].properties.headline.value).toBe(
      "مرحبا {{${first_name} | default: 'بك'}} اليوم",
    );
    await close(page);
  });

  test('shows a release that a colleague has published, and can overwrite it', async () => {
    const page = await open('/campaigns/free-delivery');
    await headline(page).fill('Mine');
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Publish now' }).waitFor();
    const other = await open('/');
    await other.getByRole('button', { name: 'Stop Free delivery' }).click();
    await other.getByRole('button', { name: 'Stop campaign' }).click();
    await other.getByText('Free delivery is stopped').waitFor();
    await close(other);

    await dialog.getByRole('button', { name: 'Publish now' }).click();
    await dialog.getByText(/Demo published release \d+ on/).waitFor();
    await dialog.getByText('Stopped').first().waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish now' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Overwrite anyway' }).click();
    await dialog.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText(/Release \d+ is live/).waitFor();
    await close(page);
  });

  test('inserts a name into a text without handwritten Liquid', async () => {
    const page = await open('/campaigns/free-delivery');
    await headline(page).fill('Hello ');
    await page.getByRole('button', { name: 'Insert from the profile into Headline' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SELECT');
    await page.keyboard.press('Tab');
    await page.keyboard.type('friend');
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    expect(await headline(page).inputValue()).toBe("Hello {{${first_name} | default: 'friend'}}");
    await page.frameLocator('iframe').getByText('Hello friend').waitFor();
    await page.getByLabel('Preview as').selectOption('Mira, here for the first time');
    await page.frameLocator('iframe').getByText('Hello Mira').waitFor();
    await close(page);
  });

  test('reports truncated, rejected and missing parts in the image', async () => {
    const page = await open('/campaigns/tea-lovers');
    await headline(page).fill('A very long headline '.repeat(9).trim());
    await page.getByText('188 characters: only the first 160 are shown.').first().waitFor();
    await page.getByLabel('Link', { exact: true }).fill('javascript:alert(1)');
    await page.getByText('1 error to fix').waitFor();
    await page.getByLabel('Image', { exact: true }).fill('/images/not-there.svg');
    await page.getByText(/Image: It cannot be loaded from/).waitFor();
    await close(page);
  });
});

describe('a schedule', () => {
  const end = (page: Page) => page.getByLabel('End', { exact: true });

  test('stores a year typed key by key once it is complete', async () => {
    const page = await open('/campaigns/gift-wrap');
    const stored: unknown[] = [];
    page.on('request', (request) => {
      // Presence is a PUT without a body.
      const body = request.method() === 'PUT' ? request.postDataJSON() : null;
      if (body?.campaign) stored.push(body.campaign.ends_at);
    });
    await page.getByRole('tab', { name: 'Schedule' }).click();
    await end(page).fill('2026-12-10T10:00');
    await saved(page);
    await page.clock.install();
    await end(page).focus();
    // The parts of the field, in order: day, month, year.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    for (const key of ['2', '0', '3', '1']) {
      await page.keyboard.press(key);
      // The user takes longer for the next key than the pause after which a draft is saved.
      await page.clock.runFor(1_000);
    }
    await expect.poll(() => stored.at(-1)).toBe('2031-12-10T10:00:00+01:00');
    expect(stored.filter((each) => !/^20(26|31)-/.test(String(each)))).toEqual([]);
    await close(page);
  });

  test('reports a partially typed date when the user leaves the field', async () => {
    const page = await open('/campaigns/free-delivery');
    await page.getByRole('tab', { name: 'Schedule' }).click();
    await end(page).focus();
    await page.keyboard.type('1012');
    await page.getByRole('radio', { name: 'High' }).focus();
    await page.getByText('Enter a complete date and time. It stays empty.').waitFor();
    await page.getByRole('heading', { name: '1 error to fix' }).waitFor();
    // Without the report, the campaign would be published without an end.
    await page.getByRole('tab', { name: 'Message' }).click();
    await expect.poll(() => end(page).evaluate((field) => field === document.activeElement)).toBe(true);
    await end(page).fill('2031-12-10T10:00');
    await saved(page);
    await page.getByRole('heading', { name: '1 error to fix' }).waitFor({ state: 'detached' });
    await close(page);
  });

  test('keeps the last date, and reports an invalid year', async () => {
    const page = await open('/campaigns/tea-lovers');
    await page.getByRole('tab', { name: 'Schedule' }).click();
    await end(page).fill('2026-12-10T10:00');
    await saved(page);
    await end(page).fill('0002-12-10T10:00');
    expect(await page.getByText(/Enter a year from/).count()).toBe(0);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page
      .getByLabel('Priority')
      .first()
      .or(page.getByRole('radio', { name: 'High' }))
      .first()
      .focus();
    await page.getByText(/Enter a year from/).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await page.getByText(/Enter a year from/).count()).toBe(0);
    await close(page);
  });

  test('keeps the list and a link back to it if a draft cannot be loaded', async () => {
    const DRAFT = { revision: 'x', basedOn: 0, editor: 'Demo', at: '2026-03-02T09:00:00Z', review: [] };
    const page = await open('/explain');
    const broken = [
      { starts_at: '1899-12-11T10:00:00+33283824:53' },
      { placements: 7, name: 5, variants: null },
      { status: 'so-so', ends_at: 'then' },
    ];
    for (const members of broken) {
      await page.route('**/api/campaigns', async (route) => {
        const response = await route.fetch();
        const { campaigns } = await response.json();
        const [first] = campaigns;
        const campaign = { ...(first.published ?? first.draft).campaign, ...members };
        campaigns[0] = {
          ...first,
          id: 'broken-one',
          published: null,
          draft: { ...DRAFT, campaign },
        };
        await route.fulfill({ response, json: { campaigns } });
      });
      await page.goto(studio.url);
      await page.getByRole('link', { name: 'Gift wrapping' }).waitFor();
      expect(await page.locator('a[href="/campaigns/broken-one"]').count()).toBe(1);
      await page.unroute('**/api/campaigns');
    }
    await page.route('**/api/campaigns/broken-one', (route) =>
      route.fulfill({
        json: {
          id: 'broken-one',
          published: null,
          draft: { ...DRAFT, campaign: { campaign_id: 'broken-one' } },
          scheduled: [],
          newest: 0,
        },
      }),
    );
    await page.route('**/api/drafts/broken-one', (route) => route.fulfill({ status: 204 }));
    await page.goto(`${studio.url}/campaigns/broken-one`);
    await page.getByRole('button', { name: 'Discard its draft' }).click();
    await page.getByText('Draft discarded.').waitFor();
    await close(page);
  });

  test('does not open a page for a malformed URL', async () => {
    const page = await open('/campaigns/%');
    await page.getByText('Page not found').waitFor();
    await close(page);
  });
});

describe('the list', () => {
  test('shows 25 campaigns per page, sorts them, and keeps its state', async () => {
    const variants = [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'x' } } }];
    for (let i = 0; i < 30; i += 1) {
      const campaign = {
        campaign_id: `many-${i}`,
        name: `Many ${i}`,
        status: 'active',
        placements: [],
        variants,
      };
      await studio.call('PUT', `/api/drafts/many-${i}`, { campaign, based_on: 0 });
    }
    const page = await open();
    const names = () => page.locator('.list-name a').allTextContents();
    await page.getByLabel('Search campaigns').fill('many');
    await page.getByLabel('Sort by').selectOption('Name');
    await expect.poll(async () => (await names()).length).toBe(25);
    expect((await names()).slice(0, 4)).toEqual(['Many 0', 'Many 1', 'Many 2', 'Many 3']);
    await page.getByRole('button', { name: 'Show 5 more' }).click();
    await expect.poll(async () => (await names()).length).toBe(30);
    await page.getByRole('link', { name: 'Many 29' }).click();
    await page.getByRole('heading', { name: 'Many 29' }).waitFor();
    await page.goBack();
    await expect.poll(async () => (await names()).length).toBe(30);
    for (let i = 0; i < 30; i += 1) {
      const row = await page.evaluate(
        async (id) => (await (await fetch(`/api/campaigns/${id}`)).json()).draft.revision,
        `many-${i}`,
      );
      await page.evaluate(
        ([id, revision]) =>
          fetch(`/api/drafts/${id}`, { method: 'DELETE', headers: { 'if-match': `"${revision}"` } }),
        [`many-${i}`, row] as const,
      );
    }
    await close(page);
  });

  test('shows how soon pages drop a stopped campaign, archives the campaign, and finds it again', async () => {
    const page = await open('/campaigns/arabic-welcome');
    await page.getByText('More: theme').click();
    await page.getByLabel('Cache for (minutes)').fill('10');
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Published', { exact: true }).waitFor();
    await page.goto(studio.url);
    await page.getByRole('button', { name: 'Stop Welcome in Arabic' }).click();
    await page.getByText('stop showing it within 10 minutes').waitFor();
    await page.getByRole('button', { name: 'Stop campaign' }).click();
    await page.getByRole('button', { name: 'Archive Welcome in Arabic' }).click();
    await page.getByRole('button', { name: 'Archive campaign' }).click();
    await page.getByText('is in the archive').waitFor();
    const link = page.getByRole('link', { name: 'Welcome in Arabic' });
    await expect.poll(() => link.count()).toBe(0);
    await page.getByRole('radio', { name: 'Archived' }).check();
    await link.click();
    await page.getByText('Archived', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await page
      .getByRole('button', { name: /^Restore/ })
      .first()
      .waitFor();
    await close(page);
  });

  test('links from a stopped campaign to the cache limit of a page', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Stop Spring collection', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('stop showing it within 1 day').waitFor();
    await dialog.getByRole('link', { name: 'limit the cache' }).click();
    const bound = page.getByLabel('Cache for (minutes)');
    await bound.waitFor();
    await expect.poll(() => bound.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await bound.inputValue()).toBe('1440');
    await close(page);
  });
});

describe('a URL', () => {
  test('contains the open part of the campaign', async () => {
    const page = await open('/campaigns/gift-wrap#audience');
    await page.getByRole('button', { name: 'Attribute' }).waitFor();
    await page.getByRole('tab', { name: /Goal/ }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Add goal' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Attribute' }).waitFor();
    await close(page);
  });
});

describe('a segment', () => {
  test('is defined once, used by a campaign, and shows a warning before it changes a running campaign', async () => {
    const page = await open('/segments');
    await page.getByRole('button', { name: 'New segment' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Gold customers');
    await page.getByRole('button', { name: 'Attribute' }).click();
    await page.getByLabel('Attribute', { exact: true }).fill('tier');
    await page.getByLabel('Value', { exact: true }).fill('gold');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Users who match: tier is gold.').waitFor();
    await page.goto(`${studio.url}/campaigns/gold-preview#audience`);
    await page.getByRole('button', { name: 'Segment', exact: true }).click();
    await page.locator('select[id^=condition-]').selectOption({ label: 'Gold customers' });
    await page.getByText(/in segment “Gold customers”/).waitFor();
    await saved(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByText('Published', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('link', { name: 'Early access for gold customers' }).waitFor();
    await page.getByRole('button', { name: 'Change Gold customers' }).click();
    await page.getByRole('dialog').getByText('1 live campaign uses it').waitFor();
    await page.getByLabel('Value', { exact: true }).fill('platinum');
    await page.getByRole('button', { name: 'Save for all campaigns' }).click();
    await page.getByText('tier is platinum').waitFor();
    await close(page);
  });
});

describe('a click', () => {
  test('logs an event and sets attributes, as the draft defines', async () => {
    const page = await open('/campaigns/tea-lovers');
    await page.getByText('More: theme').click();
    await page.getByLabel('Event on click').fill('asked_for_news');
    const attributes = page.getByLabel('Attributes set on click');
    await attributes.fill('wants_news, tier=gold');
    await attributes.press('Tab');
    const stored = () =>
      page.evaluate(async () => {
        const row = await (await fetch('/api/campaigns/tea-lovers')).json();
        return row.draft?.campaign.variants[0].on_click;
      });
    await expect
      .poll(stored)
      .toEqual({ event: 'asked_for_news', attributes: { wants_news: true, tier: 'gold' } });
    expect(await attributes.inputValue()).toBe('wants_news=true, tier=gold');
    await close(page);
  });
});

describe('the goal', () => {
  test('shows the sample size of a comparison, and uses it as the target', async () => {
    const page = await open('/campaigns/spring-collection#goal');
    await page.getByText('Sample size calculator').click();
    await page.getByLabel('Baseline rate (%)').fill('10');
    const words = await page.getByText(/^[\d,]+ users needed/).textContent();
    const number = /[\d,]+/.exec(words!)![0].replaceAll(',', '');
    await page.getByRole('button', { name: 'Use as target' }).click();
    expect(await page.getByLabel(/^Target sample size/).inputValue()).toBe(number);
    await close(page);
  });
});

describe('the audit', () => {
  test('searches by words and exports the matches as a file', async () => {
    const page = await open('/access');
    const cells = page.getByRole('region', { name: 'Audit' }).locator('tbody tr');
    await cells.first().waitFor();
    await page.getByLabel('Find in the audit').fill('sign_in');
    await expect
      .poll(async () => (await cells.allTextContents()).filter((row) => !/sign_in/.test(row)))
      .toEqual([]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('audit.csv');
    await page.getByLabel('Find in the audit').fill('unknown action');
    await expect.poll(() => cells.count()).toBe(0);
    await close(page);
  });
});

describe('the first view', () => {
  test('loads less than 180 kB of code and styles, unpacked, and defers charts to the screens that have them', async () => {
    const page = await open();
    await page.getByText('Spring collection').waitFor();
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map((entry) => {
        const { name, decodedBodySize } = entry as PerformanceResourceTiming;
        return { name, bytes: /\.(js|css)$/.test(name) ? decodedBodySize : 0 };
      }),
    );
    expect(loaded.filter(({ name }) => name.includes('results-tab'))).toEqual([]);
    const bytes = loaded.reduce((sum, each) => sum + each.bytes, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(180_000);
    await close(page);
  });
});
