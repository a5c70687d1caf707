import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

/** What the page's script offers to the test. */
declare global {
  var tracked: string[];
  var mountWitness: (placementId: string) => void;
  var mountIn: (placementId: string, selector: string) => void;
}

let browser: Browser;
let server: PageServer;

beforeAll(async () => {
  [browser, server] = await Promise.all([
    launchBrowser(),
    startPageServer({ entries: ['index', 'testing'] }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), server?.close()]);
});

/**
 * Mounts `case` in the element with the ID `slot`, wherever it is, and small witnesses in full view: what a witness
 * needed a second for, the slot could have been seen for as long.
 */
const SCRIPT = `
  import { createPlacard } from '/placard/index.js';
  import { aBanner, createFakeService } from '/placard/testing.js';
  const isControl = document.body.dataset.control === '1';
  const service = createFakeService({ banners: {
    case: aBanner('case', {}, { is_control: isControl }),
    'witness-1': aBanner('witness-1'),
    'witness-2': aBanner('witness-2'),
  } });
  const placard = createPlacard({
    endpoint: service.origin, apiKey: 'client-key', appId: crypto.randomUUID(), appVersion: '1', userId: 'u-1',
    platform: { fetch: service.fetch },
  });
  globalThis.tracked = [];
  placard.subscribe((notice) => {
    if (notice.type === 'tracked') tracked.push(notice.event.placementId);
  });
  const host = document.querySelector('#host');
  if (host) {
    const shadow = host.attachShadow({ mode: 'open' });
    shadow.append(document.querySelector('template').content);
  }
  globalThis.mountIn = (placementId, selector) => {
    placard.mount(placementId, document.querySelector(selector), () => undefined);
  };
  globalThis.mountWitness = (placementId) => {
    const element = document.createElement('div');
    Object.assign(element.style, { position: 'fixed', right: '0', top: '0', width: '40px', height: '40px', zIndex: 9 });
    // What is outside an open modal dialog is inert, and covered.
    (document.querySelector('dialog[open]') ?? document.body).append(element);
    placard.mount(placementId, element, () => undefined);
  };
  placard.mount('case', (host?.shadowRoot ?? document).querySelector('#slot'), () => undefined);
  mountWitness('witness-1');
`;

const seenBy = (page: Page, placementId: string) =>
  page.waitForFunction((id) => globalThis.tracked?.includes(id), placementId);

const isSeen = async (page: Page): Promise<boolean> => {
  await seenBy(page, 'witness-1');
  await page.evaluate(() => mountWitness('witness-2'));
  await seenBy(page, 'witness-2');
  return page.evaluate(() => tracked.includes('case'));
};

const open = async (html: string, path: string, isControl = false): Promise<Page> => {
  server.set(path, {
    head: `<style>body { margin: 0 } #slot, .slot { width: 300px; height: 100px } .at { position: absolute; left: 0 }</style>`,
    html: `<script>document.body.dataset.control = '${isControl ? 1 : 0}'</script>${html}`,
    script: SCRIPT,
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(server.origin + path);
  return page;
};

const inScroller = (scrollTop: number) => `
  <div id="scroller" style="height: 200px; width: 400px; overflow: auto">
    <div style="height: 500px"></div><div id="slot"></div><div style="height: 500px"></div>
  </div><script>scroller.scrollTop = ${scrollTop}</script>`;

/** The published table: where the slot is, and whether its banner counts as seen. */
const TABLE: [name: string, seen: boolean, html: string, isControl?: boolean][] = [
  ['whole and in view', true, '<div id="slot"></div>'],
  ['half of it in view', true, '<div id="slot" class="at" style="top: 670px"></div>'],
  ['49 % of it in view', false, '<div id="slot" class="at" style="top: 671px"></div>'],
  ['below the fold', false, '<div id="slot" class="at" style="top: 900px"></div>'],
  [
    '30 % of a large one (970 × 250) in view',
    true,
    '<div id="slot" class="at" style="top: 645px; width: 970px; height: 250px"></div>',
  ],
  [
    '30 % of one just below the large size (970 × 249) in view',
    false,
    '<div id="slot" class="at" style="top: 645px; width: 970px; height: 249px"></div>',
  ],
  ['case 62: in a nested scroller, scrolled away', false, inScroller(0)],
  ['case 62: in a nested scroller, scrolled to', true, inScroller(450)],
  [
    'case 62: clipped to 40 % by a parent',
    false,
    '<div style="height: 40px; overflow: hidden"><div id="slot"></div></div>',
  ],
  [
    'case 62: in a shadow root',
    true,
    '<template><style>#slot { width: 300px; height: 100px }</style><div id="slot"></div></template><div id="host"></div>',
  ],
  [
    'case 62: in a shadow root below the fold',
    false,
    '<template><style>#slot { width: 300px; height: 100px }</style><div id="slot"></div></template><div id="host" class="at" style="top: 900px"></div>',
  ],
  ['case 62: in a scaled parent', true, '<div style="transform: scale(0.5)"><div id="slot"></div></div>'],
  [
    'case 62: in a turned parent',
    true,
    '<div style="transform: rotate(8deg); margin: 60px; width: 300px"><div id="slot"></div></div>',
  ],
  [
    'case 62: moved out of view by a transform',
    false,
    '<div style="transform: translateX(-2000px)"><div id="slot"></div></div>',
  ],
  ['case 63: display: none', false, '<div id="slot" style="display: none"></div>'],
  ['case 63: without height', false, '<div id="slot" style="height: 0"></div>'],
  ['visibility: hidden', false, '<div id="slot" style="visibility: hidden"></div>'],
  [
    'covered by an open dialog',
    false,
    '<div id="slot"></div><dialog id="cover" style="width: 600px; height: 300px; margin: 0">Cookies?</dialog><script>cover.showModal()</script>',
  ],
  [
    'covered by a fixed bar, four fifths of it',
    false,
    '<div id="slot"></div><div style="position: fixed; top: 0; left: 0; width: 300px; height: 80px; background: #ccc"></div>',
  ],
  [
    'covered by a fixed bar, a fifth of it',
    true,
    '<div id="slot"></div><div style="position: fixed; top: 0; left: 0; width: 300px; height: 20px; background: #ccc"></div>',
  ],
  ['a control banner in a place with a box', true, '<div id="slot"></div>', true],
  [
    'case 63: a control banner in a place without height',
    true,
    '<div id="slot" style="height: 0"></div>',
    true,
  ],
  ['case 63: a control banner in display: none', false, '<div id="slot" style="display: none"></div>', true],
  ['a control banner below the fold', false, '<div id="slot" class="at" style="top: 900px"></div>', true],
];

test.concurrent.each(
  TABLE.map(([name, seen, html, isControl], at) => ({ name, seen, html, isControl, path: `/case-${at}` })),
)('viewability: $name counts: $seen', async ({ html, path, isControl, seen }) => {
  const page = await open(html, path, isControl);
  expect(await isSeen(page)).toBe(seen);
  await page.close();
});

test('case 65: a slot that is moved in the page is neither reloaded nor counted again', async () => {
  const page = await open('<main><div id="slot"></div></main><aside></aside>', '/moved');
  await seenBy(page, 'case');
  await page.evaluate(() => document.querySelector('aside')!.append(document.querySelector('#slot')!));
  await page.evaluate(() => mountWitness('witness-2'));
  await seenBy(page, 'witness-2');
  expect(await page.evaluate(() => tracked.filter((id) => id === 'case'))).toHaveLength(1);
  await page.close();
});

test('case 61: a placement in two slots for two breakpoints, one of them hidden, is one impression', async () => {
  const page = await open(
    '<div id="slot" style="display: none"></div><div class="slot" id="wide"></div><style>#slot { height: 0 }</style>',
    '/breakpoints',
  );
  await page.evaluate(() => mountIn('case', '#wide'));
  await seenBy(page, 'case');
  await page.evaluate(() => {
    document.querySelector<HTMLElement>('#slot')!.style.cssText = 'display: block; height: 100px';
    document.querySelector<HTMLElement>('#wide')!.style.display = 'none';
    mountWitness('witness-2');
  });
  await seenBy(page, 'witness-2');
  expect(await page.evaluate(() => tracked.filter((id) => id === 'case'))).toHaveLength(1);
  await page.close();
});

test('a slot that is scrolled within the view during its second counts', async () => {
  const page = await open(
    '<main style="height: 3000px; padding-top: 500px"><div id="slot"></div></main>',
    '/scrolled',
  );
  // All the time wholly in view: no threshold is crossed, and after a second the slot is not where it was.
  await page.evaluate(() => {
    const began = performance.now();
    const roll = () => {
      scrollTo(0, Math.min(400, (performance.now() - began) / 5));
      requestAnimationFrame(roll);
    };
    roll();
  });
  await seenBy(page, 'case');
  await page.close();
});

test('a dialog that closes uncovers the banner, and then it counts', async () => {
  const page = await open(
    '<div id="slot"></div><dialog id="cover" style="width: 600px; height: 300px; margin: 0">Cookies?</dialog><script>cover.showModal()</script>',
    '/uncovered',
  );
  expect(await isSeen(page)).toBe(false);
  await page.evaluate(() => document.querySelector('dialog')!.close());
  await seenBy(page, 'case');
  await page.close();
});
