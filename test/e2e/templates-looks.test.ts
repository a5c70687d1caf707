import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

const require = createRequire(import.meta.url);

/** `draw(template, values)` draws a template into the page without the client, because only its appearance matters here. */
const SCRIPT = `
  import { createTemplates } from '/placard/templates.js';
  const templates = createTemplates();
  globalThis.reports = [];
  globalThis.draw = async (template, values) => {
    const element = document.querySelector('#slot');
    element.className = template;
    element.replaceChildren();
    const properties = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, { type: name === 'image' ? 'image' : typeof value, value }]));
    const idle = async () => undefined;
    const slot = {
      element, placementId: 'home', signal: new AbortController().signal, click: idle, dismiss: idle, safeUrl: String, now: Date.now,
      report: (kind) => reports.push(kind),
    };
    return templates[template]({ id: 'bnr', placementId: 'home', properties }, slot);
  };
  document.body.dataset.ready = '';
`;
const BOXES = `<style>
  body { margin: 0 }
  .hero { min-block-size: 22rem }
  .card { min-block-size: 21.5rem; max-inline-size: 20rem }
  .strip { min-block-size: 4rem }
</style>`;

/** Fonts with three glyph shapes, so that the drawing does not depend on the fonts of the machine. */
const FONTS = {
  wide: require.resolve('@fontsource/krona-one/files/krona-one-latin-400-normal.woff2'),
  narrow: require.resolve('@fontsource/pathway-gothic-one/files/pathway-gothic-one-latin-400-normal.woff2'),
  // Its line height is 2.5 times its font size, and its glyphs sit below the middle of the line.
  tall: require.resolve('@fontsource/noto-nastaliq-urdu/files/noto-nastaliq-urdu-latin-400-normal.woff2'),
};
type FontName = keyof typeof FONTS;
const fontFace = (name: string) => `@font-face { font-family: ${name}; src: url(/fonts/${name}.woff2) }`;
const FACES = `<style>${Object.keys(FONTS).map(fontFace).join(' ')}</style>`;
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><rect width="16" height="9" fill="red"/></svg>';
const WORDS = {
  headline: 'Autumn linen',
  body: 'Washed, cut to order.',
  button_text: 'See the linen',
  link: '/linen',
};

let pages: PageServer;
let browser: Browser;
/** Shared by all tests, because a new page for each takes a second on a busy machine. */
let shared: Page;
beforeAll(async () => {
  const page = { head: BOXES + FACES, html: '<div id="slot"></div><p id="below">Below</p>', script: SCRIPT };
  pages = await startPageServer({ entries: ['templates'], pages: { '/looks': page } });
  pages.file('/picture.svg', PICTURE, { 'content-type': 'image/svg+xml' });
  for (const [name, path] of Object.entries(FONTS)) {
    pages.file(`/fonts/${name}.woff2`, readFileSync(path), {
      'content-type': 'font/woff2',
    });
  }
  browser = await launchShell();
  shared = await browser.newPage();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (width: number, font?: FontName): Promise<Page> => {
  const page = shared;
  await page.unrouteAll();
  await page.setViewportSize({ width, height: 900 });
  await page.goto(`${pages.origin}/looks`);
  await page.locator('body[data-ready]').waitFor({ state: 'attached' });
  if (font) {
    await page.evaluate(async (family) => {
      document.body.style.setProperty('font-family', family);
      await document.fonts.load(`1rem ${family}`);
    }, font);
  }
  return page;
};

type Draw = (template: string, values: Record<string, string | boolean>) => Promise<unknown>;
const draw = (page: Page, template: string, values: Record<string, string | boolean>) =>
  page.evaluate(([name, drawn]) => void (Reflect.get(globalThis, 'draw') as Draw)(name, drawn), [
    template,
    values,
  ] as const);
const getBox = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())!;

describe.each(['strip', 'card', 'hero'])('a %s', (template) => {
  test.each([360, 1280])(
    'fills its box with an image if it has no other content, at %i pixels',
    async (width) => {
      const page = await open(width);
      await draw(page, template, { image: '/picture.svg', link: '/linen' });
      const panel = await getBox(page, 'placard-frame .panel');
      const picture = await getBox(page, 'placard-frame .image');
      expect(picture.width).toBeGreaterThanOrEqual(panel.width - 2);
      expect(picture.height).toBeGreaterThanOrEqual(panel.height - 2);
    },
  );

  test.each([360, 1280])(
    'keeps its box if its image is missing, without a layout shift below it, at %i pixels',
    async (width) => {
      const page = await open(width);
      // Held, so that the page can be inspected before the request fails.
      const held = Promise.withResolvers<void>();
      await page.route('**/gone.png', async (route) => {
        await held.promise;
        await route.abort();
      });
      await draw(page, template, { ...WORDS, image: '/gone.png' });
      const boxes = async () => [
        await getBox(page, '#below'),
        await getBox(page, 'placard-frame .content'),
        await getBox(page, 'placard-frame .image'),
      ];
      const before = await boxes();
      held.resolve();
      await page.locator('placard-frame .image img').waitFor({ state: 'detached' });
      expect(await boxes()).toEqual(before);
      expect(await page.evaluate('reports')).toEqual(['image']);
    },
  );

  test('is as high as its text and its box in quirks mode, not as the window', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 2_000 } });
    await page.route('**/looks', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/<!doctype html>/i, '');
      await route.fulfill({ response, body });
    });
    await page.goto(`${pages.origin}/looks`);
    await page.locator('body[data-ready]').waitFor({ state: 'attached' });
    expect(await page.evaluate(() => document.compatMode)).toBe('BackCompat');
    await draw(page, template, { ...WORDS, image: '/picture.svg' });
    const { height } = await getBox(page, 'placard-frame .panel');
    expect(height).toBeLessThan(700);
    expect(height).toBeGreaterThanOrEqual((await getBox(page, '#slot')).height - 1);
    await page.close();
  });

  test('has touch targets of 44 pixels', async () => {
    const page = await open(360);
    await draw(page, template, { ...WORDS, image: '/picture.svg' });
    const heights = await page
      .locator('placard-frame :is(.action, .dismiss)')
      .evaluateAll((targets) => targets.map((target) => target.getBoundingClientRect().height));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
  });

  test('does not break words or widen its page with text of twice the size', async () => {
    const page = await open(360);
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await draw(page, template, { ...WORDS, image: '/picture.svg' });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    // A column narrower than a few words would break each of them.
    expect((await getBox(page, 'placard-frame .texts')).width).toBeGreaterThan(200);
  });
});

test('shows an image that keeps its text visible in a card across a page of 768 pixels', async () => {
  const page = await open(768);
  await page.addStyleTag({ content: '.card { max-inline-size: none }' });
  await draw(page, 'card', { ...WORDS, image: '/picture.svg' });
  const picture = await getBox(page, 'placard-frame .image');
  expect(picture.width).toBeGreaterThan(690);
  expect(picture.height).toBeLessThanOrEqual(288);
});

test('the box of the README prevents layout shifts on a phone: before the banner, with it, and without its image', async () => {
  const page = await open(360);
  await page.locator('#slot').evaluate((slot) => slot.style.setProperty('min-block-size', '28rem'));
  const held = Promise.withResolvers<void>();
  await page.route('**/gone.png', async (route) => {
    await held.promise;
    await route.abort();
  });
  // A page that sets no margin.
  await page.evaluate(() => document.body.style.setProperty('margin', '8px'));
  const below = async () => (await getBox(page, '#below')).y;
  const before = await below();
  const headline = 'Fresh from the kiln, and made to last';
  const body = 'Forty new pieces for the table, thrown and glazed by hand.';
  await draw(page, 'hero', { ...WORDS, headline, body, dismissible: true, image: '/gone.png' });
  expect(await below()).toBe(before);
  held.resolve();
  await page.locator('placard-frame .image img').waitFor({ state: 'detached' });
  expect(await below()).toBe(before);
});

const LONG = { ...WORDS, headline: 'Linen '.repeat(25).trim(), body: 'Washed and cut. '.repeat(29).trim() };
const HUGE = { ...WORDS, headline: 'Linen '.repeat(1_000), body: 'Washed. '.repeat(1_000) };
/** Heights that a page may declare, as the docs recommend. */
const HEIGHTS: Record<string, Record<number, string>> = {
  strip: { 360: '8rem', 768: '4rem', 1280: '4rem' },
  card: { 360: '21.5rem', 768: '21.5rem', 1280: '21.5rem' },
  hero: { 360: '28rem', 768: '22rem', 1280: '22rem' },
};

const setHeight = (page: Page, height: string) =>
  page.locator('#slot').evaluate((slot, size) => {
    slot.style.setProperty('min-block-size', '0');
    slot.style.setProperty('block-size', size);
  }, height);

/** The texts that a template has drawn, and whether the edge of a box cuts through any of them. */
const drawnTexts = (page: Page) =>
  page.locator('placard-frame .panel').evaluate((panel) => {
    const inside = panel.getBoundingClientRect();
    const texts = [...panel.querySelectorAll<HTMLElement>('.headline, .body')].filter((each) => !each.hidden);
    const boxes = [...texts, ...panel.querySelectorAll('.action')].map((each) =>
      each.getBoundingClientRect(),
    );
    return {
      texts: texts.map((each) => each.textContent),
      outside: boxes.filter((box) => box.top < inside.top || box.bottom > inside.bottom).length,
      overflow: panel.scrollHeight - panel.clientHeight,
      clipped: texts.filter((each) => getComputedStyle(each).overflow !== 'visible').length,
    };
  });

describe.each(Object.keys(FONTS) as FontName[])('with a %s font', (font) => {
  describe.each(['strip', 'card', 'hero'])('a %s', (template) => {
    test.each([360, 768, 1280])('shows all of its text, at %i pixels', async (width) => {
      const page = await open(width, font);
      const whole = { outside: 0, overflow: 0, clipped: 0 };
      await draw(page, template, LONG);
      expect(await drawnTexts(page)).toEqual({ ...whole, texts: [LONG.headline, LONG.body] });
      // If there is only a headline, it is the link, and its target is larger than its line.
      await page.locator('#slot').evaluate((slot) => slot.style.setProperty('min-block-size', '0'));
      await draw(page, template, { headline: WORDS.headline, link: '/linen', dismissible: false });
      expect((await drawnTexts(page)).texts).toEqual([WORDS.headline]);
    });

    test.each([360, 768, 1280])(
      'shows whole lines and an ellipsis in a box of a fixed height, at %i pixels',
      async (width) => {
        const page = await open(width, font);
        await setHeight(page, HEIGHTS[template]![width]!);
        await draw(page, template, { ...LONG, image: '/picture.svg' });
        const { texts, ...edges } = await drawnTexts(page);
        expect(edges).toEqual({ outside: 0, overflow: 0, clipped: 0 });
        expect(texts.join()).toMatch(/(Linen|cut\.|Washed|and)…$/);
      },
    );

    test('does not grow beyond a banner with excessive text', async () => {
      const page = await open(900, font);
      await page.locator('#slot').evaluate((slot) => slot.style.setProperty('max-inline-size', 'none'));
      await draw(page, template, HUGE);
      expect((await getBox(page, '#slot')).height).toBeLessThan(700);
    });
  });
});

test('fits a text again when its font loads, when its box shrinks, and when the window is resized', async () => {
  const page = await open(360);
  const held = Promise.withResolvers<void>();
  await page.route('**/wide.woff2', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.locator('body').evaluate((body) => body.style.setProperty('font-family', 'wide'));
  await setHeight(page, '36rem');
  await draw(page, 'card', LONG);
  const lengths: number[] = [];
  const isShorter = async () => {
    const { texts, overflow } = await drawnTexts(page);
    const isNew = overflow === 0 && texts.join().length !== lengths.at(-1);
    if (isNew) lengths.push(texts.join().length);
    return isNew;
  };
  await expect.poll(isShorter).toBe(true);
  held.resolve();
  await expect.poll(isShorter).toBe(true);
  await setHeight(page, '24rem');
  await expect.poll(isShorter).toBe(true);
  await page.setViewportSize({ width: 280, height: 900 });
  await expect.poll(isShorter).toBe(true);
  expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
  // If there is room again, the text is shown in full.
  await setHeight(page, '80rem');
  await page.setViewportSize({ width: 360, height: 900 });
  await expect.poll(async () => (await drawnTexts(page)).texts).toEqual([LONG.headline, LONG.body]);
});
