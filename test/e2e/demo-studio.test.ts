// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { watchPage } from '../helpers/watch-page.ts';

/** A second on this machine may be three on another. */
const PATIENCE = { timeout: 20_000 };

let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  demo = await runDemo();
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

const open = async (width = 1280) => {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const complaints = await watchPage(page);
  await page.goto(`${demo.url}/studio.html`);
  await page.getByRole('heading', { name: 'Spring collection' }).waitFor();
  return { page, complaints, close: () => context.close() };
};

const frames = (page: Page): Frame[] => page.frames().filter((frame) => frame.url().includes('preview'));
const inEveryFrame = async (page: Page, text: string) => {
  await expect.poll(() => frames(page).length, PATIENCE).toBe(3);
  for (const frame of frames(page)) await frame.getByText(text, { exact: true }).waitFor();
};

/** What a screen reader says of a field after its name. */
const describes = (field: Locator) =>
  field.evaluate((control) =>
    (control.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)!.textContent)
      .join(' '),
  );

describe('the Studio', () => {
  test('shows a campaign on the shop in three windows, as the chosen visitor reads it', async () => {
    const { page, complaints, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByLabel('Seen by').selectOption('jonas');
    await inEveryFrame(page, 'Fresh from the kiln, Jonas');
    expect(complaints).toEqual([]);
    await close();
  });

  test('shows what somebody reads whose name nobody knows', async () => {
    const { page, close } = await open();
    await page.getByLabel('Seen by').selectOption('Somebody new');
    await inEveryFrame(page, 'Fresh from the kiln, and made to last');
    await page.getByText('By its rules, somebody new gets it.').waitFor();
    await page.getByRole('radio', { name: 'shelf' }).check();
    await inEveryFrame(page, 'Make room on the shelf');
    await close();
  });

  test('shows an edit at once, and changes nothing that visitors get', async () => {
    const { page, close } = await open();
    const before = await demo.headlineFor('mira', 'home_hero');
    await page.getByLabel('Headline', { exact: true }).fill('Half of everything');
    await inEveryFrame(page, 'Half of everything');
    await page.getByText('Changed here only.').waitFor();
    expect(await demo.headlineFor('mira', 'home_hero')).toBe(before);
    await page.getByRole('button', { name: 'Start over' }).click();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByText('As in the workspace file.').waitFor();
    await close();
  });

  test('asks before a draft is lost, and only then', async () => {
    const { page, close } = await open();
    const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    expect(await asks()).toBe(false);
    await page.getByLabel('Headline', { exact: true }).fill('Half of everything');
    await page.getByText('Changed here only.').waitFor();
    expect(await asks()).toBe(true);
    await page.getByRole('button', { name: 'Start over' }).click();
    expect(await asks()).toBe(false);
    await close();
  });

  test('keeps the cursor in the field while the frames follow', async () => {
    const { page, close } = await open();
    const headline = page.getByLabel('Headline', { exact: true });
    await headline.fill('');
    await headline.pressSequentially('Typed slowly', { delay: 40 });
    await inEveryFrame(page, 'Typed slowly');
    expect(await headline.inputValue()).toBe('Typed slowly');
    await close();
  });

  test('copies the draft as the workspace file would have it', async () => {
    const { page, close } = await open();
    await page.getByLabel('Headline', { exact: true }).fill('For the clipboard');
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await page.getByText('Copied.').waitFor();
    const draft = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    expect(draft.campaign_id).toBe('spring-collection');
    expect(draft.variants[0].properties.headline).toEqual({ type: 'string', value: 'For the clipboard' });
    await close();
  });

  test('says of a copied draft that the service would refuse it, and why', async () => {
    const { page, close } = await open();
    await page.getByLabel('Headline', { exact: true }).fill('Broken {{ ${first_name ');
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await page
      .getByText(/^Copied, but the service would refuse it as it is: Headline: A {{ does not end/)
      .waitFor();
    await close();
  });

  test('says of a copy nothing any more once the draft is another one', async () => {
    const { page, close } = await open();
    const headline = page.getByLabel('Headline', { exact: true });
    const said = page.locator('.draft-foot [role="status"]');
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await said.getByText('Copied. Paste it').waitFor();
    await headline.fill('Broken {{ ${first_name ');
    expect(await said.textContent()).toBe('');
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await said.getByText('Copied, but the service would refuse it').waitFor();
    await headline.fill('Mended');
    expect(await said.textContent()).toBe('');
    await close();
  });

  test('says nothing of a copy that was changed before the service had judged it', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    const judging = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    await page.route('**/demo/preview', async (route) => {
      judging.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Copy JSON' }).click();
    await judging.promise;
    await page.getByLabel('Headline', { exact: true }).fill('Changed since');
    const judged = page.waitForResponse('**/demo/preview');
    held.resolve();
    await judged;
    await inEveryFrame(page, 'Changed since');
    expect(await page.locator('.draft-foot [role="status"]').textContent()).toBe('');
    await close();
  });

  test('says what is wrong with a draft that cannot be used, and goes on when it is mended', async () => {
    const { page, close } = await open();
    const headline = page.getByLabel('Headline', { exact: true });
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await headline.fill('Hi {{ nobody | unheard_of }}');
    await page.getByRole('alert').getByText('Headline: There is no filter “unheard_of”.').waitFor();
    expect(await headline.getAttribute('aria-invalid')).toBe('true');
    expect(await describes(headline)).toContain('There is no filter “unheard_of”.');
    expect(await page.getByLabel('Body', { exact: true }).getAttribute('aria-invalid')).toBeNull();
    await headline.fill('Hi again');
    await inEveryFrame(page, 'Hi again');
    await expect.poll(() => page.locator('.problem').textContent(), PATIENCE).toBe('');
    expect(await headline.getAttribute('aria-invalid')).toBeNull();
    await close();
  });

  test.each([
    ['Link', 'www.example.com/x', /^This is a path of your own site\. For another site write https:/],
    ['Headline', 'L'.repeat(400), /^400 characters: the templates draw the first 160/],
    ['Headline', 'Hi {{ ${frist_name} }}', /“frist_name” is no attribute .* Did you mean \${first_name}\?/],
  ])('tells beside the field %s what is taken and may not be meant (%#)', async (label, value, words) => {
    const { page, close } = await open();
    const field = page.getByLabel(label, { exact: true });
    await field.fill(value);
    await page.locator('.field', { has: field }).getByText(words).waitFor();
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    expect(await page.locator('.problem').textContent()).toBe('');
    await field.fill('/plain');
    await expect.poll(() => page.locator('.field-hint:not(:empty)').count(), PATIENCE).toBe(0);
    await close();
  });

  test('has the input that fits each type, and shows a draft before its time', async () => {
    const { page, close } = await open();
    await page.getByRole('radio', { name: /Summer sale/ }).check();
    await page.getByRole('heading', { name: 'Summer sale (being written)' }).waitFor();
    const typeOf = (label: string) => page.getByLabel(label, { exact: true }).getAttribute('type');
    expect(await page.locator('#property-dismissible').getAttribute('type')).toBe('checkbox');
    expect(await page.locator('#property-discount').getAttribute('type')).toBe('number');
    expect(await page.locator('#property-last_day').getAttribute('type')).toBe('datetime-local');
    expect(await page.locator('#property-theme').evaluate((element) => element.tagName)).toBe('SELECT');
    expect(await page.locator('#property-body').evaluate((element) => element.tagName)).toBe('TEXTAREA');
    expect(await typeOf('Link')).toBe('text');
    await page.locator('#property-layout').fill('{ "columns": ');
    await page.getByText('Not an object in JSON yet.').waitFor();
    await inEveryFrame(page, 'Summer sale: up to 30 % off');
    await page.getByText('From 21 June 2027').waitFor();
    await close();
  });

  test('moves a campaign of two placements to the other one', async () => {
    const { page, close } = await open();
    await page.getByRole('radio', { name: /Summer sale/ }).check();
    await page.getByRole('radio', { name: 'Sidebar promotion' }).check();
    await expect.poll(() => frames(page).length, PATIENCE).toBe(3);
    for (const frame of frames(page)) {
      await frame.locator('[data-placement="sidebar_promo"]').getByText('Summer sale').waitFor();
      expect(await frame.locator('[data-placement="home_hero"] placard-frame').count()).toBe(0);
    }
    await close();
  });

  test('takes a headline in any direction, of one line', async () => {
    const { page, close } = await open();
    await page.getByRole('radio', { name: /Arabic/ }).check();
    const headline = page.getByLabel('Headline', { exact: true });
    await headline.fill('أهلاً بك.');
    expect(await headline.evaluate((field) => getComputedStyle(field).direction)).toBe('rtl');
    await headline.press('Enter');
    await headline.pressSequentially('Welcome');
    expect(await headline.inputValue()).toBe('أهلاً بك.Welcome');
    await close();
  });

  test('says which part of a banner is not drawn, and why', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    const alert = page.locator('.problem');
    await page.getByLabel('Link', { exact: true }).fill('javascript:alert(1)');
    await alert.getByText(/^Link: Refused, .* begins with https/).waitFor();
    expect(await describes(page.getByLabel('Link', { exact: true }))).toMatch(/^Refused, /);
    await page.getByLabel('Link', { exact: true }).fill('/#/product/vase');
    await expect.poll(() => alert.textContent(), PATIENCE).toBe('');
    await page.getByLabel('Image', { exact: true }).fill('data:image/png,');
    await alert.getByText(/^Image: Refused, .* begins with https/).waitFor();
    await page.getByLabel('Image', { exact: true }).fill('/images/not-there.svg');
    await alert.getByText('Image: It cannot be loaded.').waitFor();
    await page.getByRole('button', { name: 'Use hero-shelf.svg' }).click();
    await expect.poll(() => alert.textContent(), PATIENCE).toBe('');
    await close();
  });

  test('says of a campaign that is not live that nobody gets it', async () => {
    const { page, close } = await open();
    await page.getByRole('radio', { name: /Winter clearance/ }).check();
    await page.getByText('Nobody: it is stopped.').waitFor();
    await page.getByText('It is stopped: nobody gets it. By its rules, Mira would.').waitFor();
    await page.getByRole('radio', { name: /Summer sale/ }).check();
    await page.getByText('Nobody yet: it is a draft.').waitFor();
    await page.getByText('Test users see it all the same: marketing-tester.').waitFor();
    await page.getByText('It is a draft: nobody gets it.').waitFor();
    await close();
  });

  test('removes and adds properties', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByRole('button', { name: 'Remove Button text' }).click();
    await frames(page)[0]!
      .getByRole('link', { name: /Fresh from the kiln/ })
      .waitFor();
    await page.getByLabel('Add a property').selectOption('theme');
    await page.getByLabel('Theme', { exact: true }).selectOption('dark');
    await frames(page)[0]!.locator('.panel[data-theme="dark"]').waitFor();
    await close();
  });

  test('shows the placement in the middle of each page, and the first screen from its top', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByRole('radio', { name: /Gift wrapping/ }).check();
    await inEveryFrame(page, 'Wrapped by hand, free');
    for (const frame of frames(page)) {
      const isInView = await frame.locator('[data-placement="sidebar_promo"]').evaluate((place) => {
        const { top, bottom } = place.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
      expect(isInView).toBe(true);
    }
    await page.getByRole('radio', { name: /Spring collection/ }).check();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    for (const frame of frames(page)) expect(await frame.evaluate(() => scrollY)).toBe(0);
    await close();
  });

  test('turns the pages dark without the Studio', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByRole('radio', { name: 'Dark' }).check();
    await frames(page)[0]!.locator('html[data-scheme="dark"]').waitFor();
    expect(await page.locator('html').getAttribute('data-scheme')).toBeNull();
    await close();
  });

  test('counts what happened, and nothing of what was previewed', async () => {
    const { page, close } = await open();
    await inEveryFrame(page, 'Fresh from the kiln, Mira');
    await page.getByText('Nobody has seen it yet.').waitFor();
    await page.goto(demo.url);
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.locator('.standing').getByText('Everything is delivered.').waitFor();
    await page.goto(`${demo.url}/studio.html`);
    await page
      .getByRole('row', { name: /kiln|shelf/ })
      .getByText('1 person')
      .first()
      .waitFor();
    await close();
  });

  test.each([360, 768, 1280])(
    'stays where it is at %i pixels, while one chooses and types',
    async (width) => {
      const { page, close } = await open(width);
      const scrolled = () =>
        page.evaluate(() =>
          [document.documentElement, ...document.querySelectorAll('body *')]
            .filter((each) => each.scrollTop > 0)
            .map((each) => `${each.tagName} ${each.scrollTop}`),
        );
      // Not by a click, which would scroll to what it clicks.
      const choose = (name: RegExp) =>
        page.getByRole('radio', { name }).evaluate((input) => (input as HTMLInputElement).click());
      await inEveryFrame(page, 'Fresh from the kiln, Mira');
      await choose(/Gift wrapping/);
      await inEveryFrame(page, 'Wrapped by hand, free');
      expect(await scrolled()).toEqual([]);
      await page.getByLabel('Headline', { exact: true }).click();
      await page.keyboard.press('End');
      const before = await scrolled();
      await page.keyboard.type('!');
      for (const frame of frames(page)) await frame.getByText(/Wrapped by hand.*!|!.*Wrapped/).waitFor();
      expect(await scrolled()).toEqual(before);
      await close();
    },
  );

  test.each([360, 768])(
    'shows at %i pixels the page and what is wrong with a field to who types',
    async (width) => {
      const { page, close } = await open(width);
      await inEveryFrame(page, 'Fresh from the kiln, Mira');
      const isSeen = (element: Locator) =>
        element.evaluate((each) => {
          const { left, width, top, bottom } = each.getBoundingClientRect();
          const isOnTop = [top + 3, bottom - 3].every((y) =>
            each.contains(document.elementFromPoint(left + width / 2, y)),
          );
          return isOnTop && top >= 0 && bottom <= innerHeight;
        });
      const banner = page.frameLocator('.device-phone iframe').locator('placard-frame').first();
      for (const label of ['Headline', 'Button text', 'Image description']) {
        const field = page.getByLabel(label, { exact: true });
        await field.click();
        await page.keyboard.press('ControlOrMeta+a');
        await page.keyboard.type('{{ ${first_name');
        const problem = page.locator('.field', { has: field }).getByText('A {{ does not end.');
        await problem.waitFor();
        expect(await Promise.all([field, problem].map(isSeen)), label).toEqual([true, true]);
        const { y, height } = (await banner.boundingBox())!;
        expect(y, label).toBeGreaterThanOrEqual(0);
        expect(y + height, label).toBeLessThanOrEqual(900);
        await field.fill('Mended');
        await problem.waitFor({ state: 'hidden' });
      }
      await close();
    },
  );

  test.each([360, 768])('shows at %i pixels the device that is chosen', async (width) => {
    const { page, close } = await open(width);
    const isShown = () =>
      Promise.all(['phone', 'tablet', 'desktop'].map((id) => page.locator(`.device-${id}`).isVisible()));
    expect(await isShown()).toEqual([true, false, false]);
    await page.getByRole('radio', { name: 'Desktop' }).check();
    expect(await isShown()).toEqual([false, false, true]);
    await page.getByRole('radio', { name: /Gift wrapping/ }).check();
    await inEveryFrame(page, 'Wrapped by hand, free');
    for (const frame of frames(page)) {
      const place = frame.locator('[data-placement="sidebar_promo"]');
      expect(await place.evaluate((each) => each.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    }
    await close();
  });

  test.each([360, 720, 768, 1150, 1280])('fits a window of %i pixels', async (width) => {
    const { page, close } = await open(width);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider).toBeLessThanOrEqual(0);
    await close();
  });
});
