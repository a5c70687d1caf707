import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { HOSTILE } from '../helpers/hostile-values.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { patience } from '../helpers/patience.ts';
import { watchPage } from '../helpers/watch-page.ts';

/** The strictest policy. A template that needs more is not finished. */
const STRICT = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  // The test's own origin is http, so a relative image must be allowed by name.
  "img-src 'self' https:",
  "style-src 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/**
 * Runs the real client with a simulated network: `show(template, properties)` puts a banner into the page and
 * resolves once it is drawn.
 */
const SCRIPT = `
  import { createPlacard } from '/placard/index.js';
  import { choice, countdown, createTemplates } from '/placard/templates.js';
  const templates = { ...createTemplates(), choice, countdown };
  let serial = 0;
  window.notices = [];
  window.show = (template, properties) => new Promise((resolve) => {
    serial += 1;
    const placementId = 'place_' + serial;
    const banner = { id: 'bnr_' + serial, placement_id: placementId, expires_at: -1, properties };
    const fetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.url.endsWith('/sync')) return Response.json({ banners: { [placementId]: banner } });
      const { events } = await request.json();
      return Response.json({ events_processed: events.length, message: 'success' }, { status: 202 });
    };
    const placard = createPlacard({
      endpoint: location.origin, apiKey: 'k', appId: 'app-' + serial, appVersion: '1', userId: 'u-1', platform: { fetch },
    });
    window.placard = placard;
    placard.subscribe((notice) => {
      window.notices.push(JSON.parse(JSON.stringify({ ...notice, cause: String(notice.cause) })));
      if (notice.type === 'shown' || (notice.type === 'hidden' && notice.reason === 'invalid')) resolve(notice.type);
    });
    const element = document.createElement('div');
    element.id = 'slot';
    document.querySelector('#slot')?.remove();
    document.querySelector('#before').after(element);
    placard.mount(placementId, element, templates[template]);
  });
  document.body.dataset.ready = '';
`;

/** The page server's empty icon, which the policy correctly blocks. */
const ICON = 'policy: img-src data ';
const beside = (complaints: string[]) => complaints.filter((complaint) => complaint !== ICON);

const HTML = '<button id="before">Before</button><button id="after">After</button>';
const TEMPLATES = ['strip', 'card', 'hero'] as const;

/** Timeout for slow machines: one second can take three. */
const PATIENCE = { timeout: patience(20_000) };

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  pages = await startPageServer({
    entries: ['index', 'templates'],
    pages: {
      '/strict': { html: HTML, script: SCRIPT, headers: { 'content-security-policy': STRICT } },
      '/next': {
        html: '<p id="known"></p>',
        script: `
          import { createPlacard } from '/placard/index.js';
          const placard = createPlacard({
            endpoint: location.origin, apiKey: 'k', appId: 'app-1', appVersion: '1', userId: 'u-1',
            platform: { fetch: () => Promise.reject(new TypeError('Failed to fetch')) },
          });
          // Where the disk was slow, the click left a note, which is taken up a little later.
          setInterval(async () => {
            document.querySelector('#known').textContent = 'captured ' + (await placard.diagnostics()).captured;
          }, 100);`,
      },
    },
  });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

type Properties = Record<string, { type: string; value: unknown }>;

const text = (value: string) => ({ type: 'string', value });
const SALE: Properties = {
  headline: text('Autumn linen'),
  body: text('Washed, cut to order.'),
  button_text: text('See the linen'),
  link: text('/next'),
  dismissible: { type: 'boolean', value: true },
};
const PICTURE = { type: 'image', value: 'https://pictures.example/linen.svg' };
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 50"><path fill="#c9b79c" d="M0 0h80v50H0z"/></svg>';

interface OpenOptions {
  forcedColors?: 'active' | 'none';
  width?: number;
}

const open = async ({ forcedColors = 'none', width = 900 }: OpenOptions = {}) => {
  const context = await browser.newContext({ forcedColors, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const elsewhere: string[] = [];
  await context.route(
    (url) => url.origin !== pages.origin,
    async (route) => {
      elsewhere.push(route.request().url());
      if (route.request().url() === PICTURE.value) {
        await route.fulfill({ contentType: 'image/svg+xml', body: SVG });
      } else await route.abort();
    },
  );
  const complaints = await watchPage(page);
  await page.goto(`${pages.origin}/strict`);
  await page.locator('body[data-ready]').waitFor();
  return { page, complaints, elsewhere, close: () => context.close() };
};

const show = (page: Page, template: string, properties: Properties): Promise<string> =>
  page.evaluate(
    ([name, values]) =>
      (Reflect.get(window, 'show') as (name: string, values: unknown) => Promise<string>)(name, values),
    [template, properties] as const,
  );

const THEMED = [
  ['light', 'auto'],
  ['dark', 'auto'],
  ['light', 'accent'],
  ['dark', 'accent'],
  ['light', 'dark'],
  ['dark', 'light'],
] as const;

/** WCAG contrast ratios of the drawn template, from the computed colors. */
const contrasts = (page: Page): Promise<Record<string, number>> =>
  page.locator('placard-frame').evaluate((frame) => {
    const root = frame.shadowRoot!;
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!;
    const luminance = (color: string) => {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
        const part = byte / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    const getStyle = (selector: string) => getComputedStyle(root.querySelector(selector)!);
    const ratio = (front: string, back: string) => {
      const [high, low] = [luminance(front), luminance(back)].sort((a, b) => b - a);
      return (high! + 0.05) / (low! + 0.05);
    };
    const surface = getStyle('section').backgroundColor;
    return {
      headline: ratio(getStyle('.headline').color, surface),
      body: ratio(getStyle('.body').color, surface),
      button: ratio(getStyle('.action').color, getStyle('.action').backgroundColor),
      close: ratio(getStyle('.dismiss').color, surface),
    };
  });

/** Text of the element that a tap on the middle of the given element hits. */
const meets = (page: Page, selector: string): Promise<string> =>
  page.locator(`placard-frame ${selector}`).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const root = element.getRootNode() as ShadowRoot;
    return root.elementFromPoint(x + width / 2, y + height / 2)?.textContent ?? '';
  });

const LINKS: Properties = {
  link: text('/next'),
  secondary_button_text: text('Coffee'),
  secondary_link: text('/coffee'),
};

test('gives the second button of a choice its own target, independent of the first link', async () => {
  const { page, close } = await open();
  for (const first of [
    { headline: text('Tea or coffee?') },
    { headline: text('Tea or coffee?'), image: PICTURE },
    { headline: text('Tea or coffee?'), button_text: text('Tea') },
    { image: PICTURE },
  ]) {
    await show(page, 'choice', { ...LINKS, ...first });
    expect(await meets(page, '.other'), JSON.stringify(first)).toBe('Coffee');
  }
  await close();
});

test('shows the countdown and the second button below an image without text', async () => {
  const { page, close } = await open();
  const left = { type: 'datetime', value: Date.UTC(2100, 0, 1) };
  await show(page, 'countdown', { image: PICTURE, countdown_to: left });
  expect(await meets(page, '.time')).toContain('day');
  await show(page, 'choice', { ...LINKS, image: PICTURE });
  expect(await meets(page, '.other')).toBe('Coffee');
  await close();
});

describe.each(TEMPLATES)('a %s on the strictest page', (template) => {
  test('case 67: renders itself with its image without a policy violation', async () => {
    const { page, complaints, close } = await open();
    expect(await show(page, template, { ...SALE, image: PICTURE })).toBe('shown');
    const image = page.locator('placard-frame img');
    await expect
      .poll(() => image.evaluate((each: HTMLImageElement) => each.naturalWidth), PATIENCE)
      .toBeGreaterThan(0);
    const panel = page.locator('placard-frame section');
    expect(await panel.evaluate((each) => getComputedStyle(each).borderRadius)).toBe('12px');
    expect(beside(complaints)).toEqual([]);
    await close();
  });

  test('exposes its role and name to assistive technology', async () => {
    const { page, close } = await open();
    await show(page, template, { ...SALE, image: PICTURE, image_alt: text('Folded linen') });
    expect(await page.locator('#slot').ariaSnapshot()).toBe(
      [
        '- region "Autumn linen":',
        '  - img "Folded linen"',
        '  - paragraph: Autumn linen',
        '  - paragraph: Washed, cut to order.',
        '  - link "See the linen":',
        '    - /url: /next',
        '  - button "Dismiss"',
      ].join('\n'),
    );
    await close();
  });

  test('Tab reaches the link, then the close button; after a dismissal it continues at the banner’s position', async () => {
    const { page, close } = await open();
    await show(page, template, SALE);
    const focused = () =>
      page.evaluate(() => {
        const inner = document.activeElement?.shadowRoot?.activeElement ?? document.activeElement;
        return inner?.getAttribute('aria-label') ?? inner?.textContent ?? '';
      });
    await page.locator('#before').focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('See the linen');
    const outline = await page
      .locator('placard-frame a')
      .evaluate((link) => getComputedStyle(link).outlineStyle);
    expect(outline).toBe('solid');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Dismiss');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('placard-frame').count(), PATIENCE).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('slot');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('After');
    await close();
  });

  test('has readable text on light and dark pages in every theme', async () => {
    const { page, close } = await open();
    await page.evaluate(() => document.documentElement.style.setProperty('color-scheme', 'light dark'));
    for (const [colorScheme, theme] of THEMED) {
      await page.emulateMedia({ colorScheme });
      await show(page, template, { ...SALE, theme: text(theme) });
      const ratios = await contrasts(page);
      for (const [part, ratio] of Object.entries(ratios)) {
        expect(ratio, `${part}, ${theme} on a ${colorScheme} page`).toBeGreaterThanOrEqual(4.5);
      }
    }
    await close();
  });

  test('keeps its borders in forced colors', async () => {
    const { page, close } = await open({ forcedColors: 'active' });
    await show(page, template, SALE);
    const edge = (selector: string, drawnBy?: string) =>
      page.locator(`placard-frame ${selector}`).evaluate((each, pseudo) => {
        const style = getComputedStyle(each, pseudo);
        return style.borderTopColor !== style.backgroundColor && style.borderTopStyle === 'solid';
      }, drawnBy);
    expect(await edge('.action')).toBe(true);
    expect(await edge('.dismiss', '::before')).toBe(true);
    await close();
  });

  test('mirrors itself for a right-to-left banner', async () => {
    const { page, close } = await open();
    await show(page, template, { ...SALE, headline: text('توصيل مجاني'), body: text('حتى يوم الأحد') });
    const [slot, button] = [page.locator('#slot'), page.locator('placard-frame .dismiss')];
    const [outer, inner] = [(await slot.boundingBox())!, (await button.boundingBox())!];
    expect(inner.x + inner.width / 2).toBeLessThan(outer.x + outer.width / 2);
    await close();
  });

  test('follows the direction of the page without text', async () => {
    const { page, close } = await open();
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
    await show(page, template, { image: PICTURE, dismissible: { type: 'boolean', value: true } });
    const [slot, button] = [page.locator('#slot'), page.locator('placard-frame .dismiss')];
    const [outer, inner] = [(await slot.boundingBox())!, (await button.boundingBox())!];
    expect(inner.x + inner.width / 2).toBeLessThan(outer.x + outer.width / 2);
    await close();
  });

  test('keeps its text clear of the close button', async () => {
    const { page, close } = await open();
    const long = text('Wash it, cut it to order, and wear it in any weather that comes. '.repeat(2));
    for (const width of [280, 360, 700, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const image of [{}, { image: PICTURE }]) {
        await show(page, template, { ...SALE, ...image, headline: long, body: long });
        const covered = await page.locator('placard-frame .dismiss').evaluate((button) => {
          const range = document.createRange();
          range.selectNodeContents(button.parentElement!.querySelector('.texts')!);
          const circle = button.getBoundingClientRect();
          // Its visible size; the touch target is six pixels larger on each side.
          const [left, right] = [circle.left + 6, circle.right - 6];
          const [top, bottom] = [circle.top + 6, circle.bottom - 6];
          return [...range.getClientRects()].filter(
            (line) => line.right > left && line.left < right && line.bottom > top && line.top < bottom,
          ).length;
        });
        expect(covered, `${width} wide, ${Object.keys(image)}`).toBe(0);
      }
    }
    await close();
  });

  test('fits a box of any width that the page declares, with any content', async () => {
    const { page, close } = await open({ width: 360 });
    const long = text('Pneumonoultramicroscopicsilicovolcanoconiosis '.repeat(400));
    for (const width of [280, 360, 700, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await show(page, template, { ...SALE, headline: long, body: long, button_text: long, image: PICTURE });
      await page.locator('#slot').evaluate((slot) => slot.style.setProperty('height', '22rem'));
      const overflow = await page.locator('#slot').evaluate((slot) => {
        const panel = slot.querySelector('placard-frame')!.shadowRoot!.querySelector('section')!;
        return {
          wider: panel.getBoundingClientRect().width - slot.clientWidth,
          higher: panel.getBoundingClientRect().height - slot.clientHeight,
          sideways: document.documentElement.scrollWidth - innerWidth,
        };
      });
      expect(overflow.wider, `${width} wide`).toBeLessThanOrEqual(0);
      expect(overflow.higher, `${width} high`).toBeLessThanOrEqual(0);
      expect(overflow.sideways, `${width} scroll`).toBeLessThanOrEqual(0);
    }
    await close();
  });
});

/** Waits for two frames, and returns the page's clock in milliseconds. */
const afterTwoFrames = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))),
      ),
  );

describe('a late image', () => {
  test.each(TEMPLATES)('does not cause a layout shift in a %s', async (template) => {
    const { page, close } = await open();
    await page.locator('body').evaluate((body) => {
      const moves: { at: number; value: number }[] = [];
      Reflect.set(window, 'moves', moves);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          moves.push({ at: entry.startTime, value: Reflect.get(entry, 'value') });
      }).observe({ type: 'layout-shift' });
      body.style.setProperty('margin', '0');
    });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(PICTURE.value, async (route) => {
      await held;
      await route.fulfill({ contentType: 'image/svg+xml', body: SVG });
    });
    await show(page, template, { ...SALE, image: PICTURE });
    const height = () => page.locator('#slot').evaluate((slot: HTMLElement) => slot.offsetHeight);
    const before = await height();
    // The banner itself moves the content below it, in the next frame.
    const since = await afterTwoFrames(page);
    release();
    const image = page.locator('placard-frame img');
    await expect.poll(() => image.evaluate((each: HTMLImageElement) => each.complete), PATIENCE).toBe(true);
    await afterTwoFrames(page);
    expect(await height()).toBe(before);
    const moves: { at: number }[] = await page.evaluate(() => Reflect.get(window, 'moves'));
    expect(moves.filter(({ at }) => at > since)).toEqual([]);
    await close();
  });
});

describe('a click on the link', () => {
  test('case 28: stores the click before the navigation', async () => {
    const { page, close } = await open();
    await show(page, 'card', SALE);
    await page.getByRole('link', { name: 'See the linen' }).click();
    await page.waitForURL('**/next');
    await page.getByText(/captured [12]/).waitFor();
    await close();
  });

  test('opens a new tab with Ctrl and stores the click as well', async () => {
    const { page, close } = await open();
    await show(page, 'card', SALE);
    // Counted by the server's requests, because Playwright may miss a tab that it did not open itself.
    const visits = () => pages.requests.filter((path) => path === '/next').length;
    const before = visits();
    await page.getByRole('link', { name: 'See the linen' }).click({ modifiers: ['ControlOrMeta'] });
    await expect.poll(visits, PATIENCE).toBe(before + 1);
    expect(page.url()).toContain('/strict');
    const clicks = () =>
      page.evaluate(
        () =>
          (Reflect.get(window, 'notices') as { type: string; event?: { type: string } }[]).filter(
            (notice) => notice.type === 'tracked' && notice.event?.type === 'click',
          ).length,
      );
    await expect.poll(clicks, PATIENCE).toBe(1);
    await close();
  });
});

const NAMES = [
  'headline',
  'body',
  'button_text',
  'link',
  'image',
  'image_alt',
  'theme',
  'dismissible',
  'dismiss_label',
];

describe.each(TEMPLATES)('hostile properties in a %s', (template) => {
  test('case 66: do not run a script, send a request or throw, and are bounded', {
    timeout: patience(180_000),
  }, async () => {
    const { page, complaints, elsewhere, close } = await open();
    for (const value of HOSTILE) {
      const properties = Object.fromEntries(
        NAMES.map((name) => [name, { type: name === 'image' ? 'image' : 'string', value }]),
      );
      properties['headline'] = typeof value === 'string' && value.trim() ? text(value) : text('Calm');
      await show(page, template, properties);
    }
    const found = await page.evaluate(() => {
      const root = document.querySelector('placard-frame')?.shadowRoot;
      return {
        polluted: Object.keys(Object.prototype),
        title: document.title,
        longest: Math.max(
          0,
          ...[...(root?.querySelectorAll('p, a') ?? [])].map((each) => each.textContent.length),
        ),
      };
    });
    expect(found.polluted).toEqual([]);
    expect(found.longest).toBeLessThan(2_000);
    expect(beside(complaints)).toEqual([]);
    expect(elsewhere).toEqual([]);
    await close();
  });

  test('are rendered at once as a banner of ordinary size, even with megabytes of text', async () => {
    const { page, complaints, close } = await open();
    const huge = text('very long '.repeat(300_000));
    const values = { ...SALE, headline: huge, body: huge, button_text: huge, dismiss_label: huge };
    expect(await show(page, template, values)).toBe('shown');
    const size = await page.locator('#slot').evaluate((slot: HTMLElement) => ({
      height: slot.offsetHeight,
      characters: slot.querySelector('placard-frame')!.shadowRoot!.textContent!.length,
    }));
    expect(size.height).toBeLessThan(700);
    expect(size.characters).toBeLessThan(1_000);
    expect(beside(complaints)).toEqual([]);
    await close();
  });

  test('contain no link with a scheme that could run code', async () => {
    const { page, close } = await open();
    for (const value of HOSTILE.filter((each) => typeof each === 'string')) {
      await show(page, template, { ...SALE, link: text(value), image: { type: 'image', value } });
      const schemes = await page.locator('placard-frame').evaluate((frame) =>
        [...frame.shadowRoot!.querySelectorAll('a, img')].map((each) => {
          const address = each instanceof HTMLAnchorElement ? each.href : (each as HTMLImageElement).src;
          return URL.canParse(address) ? new URL(address).protocol : 'no address';
        }),
      );
      for (const scheme of schemes)
        expect(['http:', 'https:', 'mailto:', 'tel:', 'no address'], value).toContain(scheme);
    }
    await close();
  });
});
