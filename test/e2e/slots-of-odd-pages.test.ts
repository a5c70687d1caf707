// Slots that a page zooms, narrows or moves into another document, in a real browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

declare global {
  var slot: HTMLElement;
  var documentPictureInPicture: {
    window: Window | null;
    requestWindow(options?: { width: number; height: number }): Promise<Window>;
  };
}

let browser: Browser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;
let page: Page;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates', 'element'] }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService({
    banners: { home_hero: buildBanner('home_hero', { headline: 'Summer sale', body: 'Until Sunday' }) },
  });
  api = await serveHandler(service.handle);
  page = await browser.newPage({ viewport: { width: 1_000, height: 800 } });
});
afterEach(async () => {
  await page.close();
  await api.close();
});

interface Stage {
  html: string;
  head?: string;
  /** Runs after the client is created, before the mount. */
  before?: string;
  template?: string;
}

const open = async ({ html, head = '', before = '', template = 'card' }: Stage): Promise<void> => {
  pages.set('/slot', {
    head,
    html,
    script: `
      import { createPlacard } from '/placard/index.js';
      import * as templates from '/placard/templates.js';
      globalThis.notices = [];
      globalThis.slot = document.querySelector('#slot');
      globalThis.placard = createPlacard({
        endpoint: '${api.origin}', apiKey: 'client-key', appId: crypto.randomUUID(), appVersion: '1', userId: 'u-1',
        delivery: { maxDelayMs: 100 },
      });
      placard.subscribe((notice) => notices.push(notice));
      ${before}
      placard.mount('home_hero', slot, templates.${template});`,
  });
  await page.goto(`${pages.origin}/slot`);
};

const impressions = () => service.events.filter(({ type }) => type === 'impression').length;
const failures = () =>
  page.evaluate(() =>
    notices.flatMap((notice) => (notice.type === 'failed' ? [`${notice.kind}: ${notice.message}`] : [])),
  );
const getMessage = (text: string) => page.getByText(text, { exact: true });

/** The inspector's report on the slot's visibility. */
const view = () =>
  page.evaluate(async () => (await placard.inspect())!.read().placements[0]!.slots[0]!.view!);

test('does not count a slot outside the visual viewport as seen until a pinch zoom ends', async () => {
  await open({
    html: '<div style="block-size: 500px"></div><div id="slot" style="inline-size: 600px"></div>',
    before: 'await globalThis.zoomed;',
    head: '<script>globalThis.zoomed = new Promise((resolve) => { globalThis.mountSlot = resolve; });</script>',
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setPageScaleFactor', { pageScaleFactor: 4 });
  await page.evaluate('mountSlot()');
  await getMessage('Summer sale').waitFor();
  await expect.poll(view).toMatchObject({ isInvisible: true, dwellMs: 0, isSeen: false });
  await cdp.send('Emulation.setPageScaleFactor', { pageScaleFactor: 1 });
  await expect.poll(impressions).toBe(1);
});

describe('a slot without its own width', () => {
  const CENTERED = '<div style="display: flex; flex-direction: column; align-items: center">';

  test.each(['card', 'strip', 'hero'])('%s has a readable width, without a notice', async (template) => {
    await open({ html: `${CENTERED}<div id="slot"></div></div>`, template });
    await getMessage('Summer sale').waitFor();
    await expect.poll(impressions).toBe(1);
    const width = await page.evaluate(() => slot.offsetWidth);
    expect(width).toBeGreaterThanOrEqual(300);
    expect(width).toBeLessThanOrEqual(1_000);
    expect(await failures()).toEqual([]);
  });

  test('fits a narrow parent', async () => {
    await open({
      html: `<div style="inline-size: 200px; padding: 10px; box-sizing: border-box">${CENTERED}<div id="slot"></div></div></div>`,
    });
    await expect.poll(impressions).toBe(1);
    expect(await page.evaluate(() => slot.offsetWidth)).toBe(180);
  });

  test('reports a slot of 2 px and does not count it', async () => {
    await open({
      html: '<div id="slot" style="inline-size: 2px; max-inline-size: 2px; block-size: 200px; overflow: hidden"></div>',
    });
    await expect.poll(failures).toEqual(['config: The slot of "home_hero" is 2 px wide: give it a width']);
    expect(await view()).toMatchObject({ isInvisible: true, isSeen: false });
    // Wide enough, so it is seen.
    await page.evaluate(() => {
      slot.style.cssText = 'inline-size: 400px';
    });
    await expect.poll(impressions).toBe(1);
    expect(await failures()).toHaveLength(1);
  });
});

describe('a slot that moves into another document', () => {
  const surface = () =>
    page.evaluate(() => {
      const panel = slot.querySelector('placard-frame')!.shadowRoot!.querySelector('.panel')!;
      return getComputedStyle(panel).display;
    });

  test('keeps its styles and counts its impression in a frame', async () => {
    await open({
      html: '<div id="slot" style="inline-size: 400px"></div><iframe style="inline-size: 600px; block-size: 400px"></iframe>',
    });
    await getMessage('Summer sale').waitFor();
    await page.evaluate(() => {
      const { contentDocument } = document.querySelector('iframe')!;
      contentDocument!.body.append(contentDocument!.adoptNode(slot));
    });
    expect(await surface()).toBe('flex');
    await expect.poll(impressions).toBe(1);
  });

  test('keeps its styles after a move through a document without a window', async () => {
    await open({ html: '<div id="slot" style="inline-size: 400px"></div>' });
    await getMessage('Summer sale').waitFor();
    await page.evaluate(() => {
      const { body } = document.implementation.createHTMLDocument();
      body.append(slot);
      document.body.append(slot);
    });
    expect(await surface()).toBe('flex');
    await expect.poll(impressions).toBe(1);
    expect(await failures()).toEqual([]);
  });

  test('keeps its styles and counts its impression in another window', async () => {
    await open({ html: '<div id="slot" style="inline-size: 400px"></div>' });
    await getMessage('Summer sale').waitFor();
    const popup = page.waitForEvent('popup');
    await page.evaluate(() => {
      const opened = globalThis.open('about:blank', '', 'width=600,height=500')!;
      opened.document.body.append(slot);
    });
    await popup;
    expect(await surface()).toBe('flex');
    await expect.poll(impressions).toBe(1);
  });
  describe('a picture-in-picture window', () => {
    const intoPip = async () => {
      // A window requires a user gesture.
      await page.mouse.click(900, 700);
      await page.evaluate(async () => {
        const opened = await documentPictureInPicture.requestWindow({ width: 500, height: 400 });
        opened.document.body.append(slot);
        opened.addEventListener('pagehide', () => document.body.append(slot));
      });
    };
    const clickLink = () =>
      page.evaluate(() => slot.querySelector('placard-frame')!.shadowRoot!.querySelector('a')!.click());

    beforeEach(() => {
      pages.set('/sale', { html: 'The sale of this site' });
      service.setBanner('home_hero', buildBanner('home_hero', { headline: 'Summer sale', link: '/sale' }));
    });

    test('keeps its styles, counts its impression, and its link navigates the page', async () => {
      await open({ html: '<div id="slot" style="inline-size: 400px"></div>' });
      await getMessage('Summer sale').waitFor();
      await intoPip();
      expect(await surface()).toBe('flex');
      await expect.poll(impressions).toBe(1);
      await clickLink();
      await page.waitForURL('**/sale');
      expect(service.events.map(({ type }) => type)).toEqual(['impression', 'click']);
    });

    test('counts an impression while the page is hidden', async () => {
      await open({ html: '<div id="slot" style="inline-size: 400px"></div>' });
      await getMessage('Summer sale').waitFor();
      await intoPip();
      // As in a page whose tab is hidden by another one.
      await page.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await expect.poll(impressions).toBe(1);
    });

    test('counts the impression of a slot that is mounted in it', async () => {
      await open({
        html: '<div id="slot" style="inline-size: 400px"></div>',
        before: 'await globalThis.moved;',
        head: '<script>globalThis.moved = new Promise((resolve) => { globalThis.mountSlot = resolve; });</script>',
      });
      await intoPip();
      await page.evaluate('mountSlot()');
      await expect.poll(impressions).toBe(1);
      await clickLink();
      await page.waitForURL('**/sale');
    });

    test('counts the impression of a slot that moves back when it closes', async () => {
      await open({ html: '<div id="slot" style="inline-size: 400px; opacity: 0"></div>' });
      await expect.poll(view).toMatchObject({ isInvisible: true });
      await intoPip();
      await page.evaluate(() => (slot.ownerDocument.defaultView as Window).close());
      await expect.poll(() => page.evaluate(() => slot.ownerDocument === document)).toBe(true);
      await page.evaluate(() => {
        slot.style.opacity = '1';
      });
      await expect.poll(impressions).toBe(1);
      expect(await surface()).toBe('flex');
    });

    test('counts the impression of a slot that moves back before it was observed', async () => {
      await open({ html: '<div id="slot" style="inline-size: 400px; opacity: 0"></div>' });
      await expect.poll(view).toMatchObject({ isInvisible: true });
      await page.mouse.click(900, 700);
      await page.evaluate(async () => {
        const opened = await documentPictureInPicture.requestWindow({ width: 500, height: 400 });
        opened.addEventListener('pagehide', () => {
          slot.style.opacity = '1';
          document.body.append(slot);
        });
        // A window that closes before its first frame never reports an entry.
        Object.assign(opened, {
          IntersectionObserver: class {
            observe = () => opened.close();
            disconnect = () => undefined;
          },
        });
        opened.document.body.append(slot);
      });
      await expect.poll(impressions).toBe(1);
    });
  });
});
