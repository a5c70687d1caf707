// What a server has rendered from a bootstrap is hydrated in a real browser: the same nodes, no warning, one impression.
import type { Browser, Page } from 'playwright-core';
import { renderToString as renderReact } from 'react-dom/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderToString as renderVue } from 'vue/server-renderer';
import type { Banner, BannerBootstrap } from '../../src/client/index.ts';
import { aBanner } from '../helpers/a-banner.ts';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import type { Told } from './pages/local-placard.ts';
import type {} from './pages/rendered-page.ts';
import { APP_ID, reactPage, vuePage } from './pages/rendered-tree.ts';

const served = (placementId: string, changes: Partial<Banner> = {}): Banner =>
  aBanner({
    id: `bnr_${placementId}`,
    placementId,
    properties: { headline: { type: 'string', value: `For ${placementId}` } },
    ...changes,
  });

const aBootstrap = (): BannerBootstrap => ({
  version: 1,
  appId: APP_ID,
  userId: 'u-1',
  askedAtMs: Date.now(),
  banners: {
    home_hero: served('home_hero'),
    held_out: served('held_out', { isControl: true }),
    // Over by the time that the browser has it.
    gone: served('gone', { expiresAt: 1_000 }),
  },
});

/** Remembers the nodes of the first HTML, and every one that is taken out of it. */
const WATCH = `<script>
  window.first = document.querySelector('#home_hero a');
  window.removed = [];
  new MutationObserver((records) => {
    for (const { removedNodes } of records) for (const node of removedNodes) window.removed.push(node.textContent);
  }).observe(document.querySelector('#home_hero'), { childList: true, subtree: true });
</script>`;

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  pages = await startPageServer({ entries: [], modules: { rendered: 'test/e2e/pages/rendered-page.ts' } });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const RENDER: Record<string, (bootstrap: BannerBootstrap) => string | Promise<string>> = {
  react: (bootstrap) => renderReact(reactPage({ placard: null, bootstrap })),
  vue: (bootstrap) => renderVue(vuePage({ placard: null, bootstrap })),
};

const open = async (framework: string, bootstrap = aBootstrap()) => {
  const rendered = await RENDER[framework]!(bootstrap);
  const json = JSON.stringify(bootstrap).replaceAll('<', '\\u003c');
  const html = `<div id="root">${rendered}</div>${WATCH}<script type="application/json" id="bootstrap">${json}</script>`;
  pages.set(`/${framework}`, { html, script: "import '/placard/rendered.js';" });
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(`${pages.origin}/${framework}`);
  return { page, rendered, complaints, close: () => context.close() };
};

const told = (page: Page): Promise<Told> => page.evaluate(() => Reflect.get(window, 'told'));
const tracked = async (page: Page): Promise<string[]> =>
  (await told(page)).notices.flatMap((notice) =>
    notice.type === 'tracked' ? [`${notice.event.type} ${notice.event.placementId}`] : [],
  );

test.each(['react', 'vue'])(
  '%s renders the banners of a bootstrap, and none of a control group',
  async (name) => {
    const html = await RENDER[name]!(aBootstrap());
    expect(html).toContain('<a href="/sale">For home_hero</a>');
    expect(html).not.toContain('For held_out');
  },
);

test.each(['react', 'vue'])(
  '%s hydrates them: the same node, nothing taken out, no warning; the browser counts them once',
  async (name) => {
    const { page, complaints, close } = await open(name);
    await expect.poll(() => tracked(page)).toContain('impression home_hero');
    await page.getByRole('link', { name: 'For home_hero' }).click({ modifiers: ['ControlOrMeta'] });
    await expect.poll(() => tracked(page)).toContain('click home_hero');
    const seen = await page.evaluate(() => ({
      isSame: Reflect.get(window, 'first') === document.querySelector('#home_hero a'),
      removed: Reflect.get(window, 'removed'),
      faults: Reflect.get(window, 'faults'),
    }));
    expect(seen).toEqual({ isSame: true, removed: [], faults: [] });
    expect(complaints).toEqual([]);
    expect((await tracked(page)).filter((event) => event === 'impression home_hero')).toHaveLength(1);
    // The held-out user is counted, too, though nothing is drawn.
    await expect.poll(() => tracked(page)).toContain('impression held_out');
    await close();
  },
);

test.each(['react', 'vue'])('%s takes away what its client knows to be over', async (name) => {
  const bootstrap = aBootstrap();
  const { page, rendered, complaints, close } = await open(name, bootstrap);
  expect(rendered).toContain('For gone');
  // The sync brings another one in its place, which may be shown.
  await expect.poll(async () => (await told(page)).notices.some(({ type }) => type === 'synced')).toBe(true);
  const shown = (await told(page)).notices.flatMap((notice) => (notice.type === 'shown' ? [notice] : []));
  expect(shown.some(({ banner }) => banner.placementId === 'gone' && banner.expiresAt !== null)).toBe(false);
  expect(complaints).toEqual([]);
  await close();
});

test('useBanner answers from the bootstrap on the server', async () => {
  expect(await RENDER['react']!(aBootstrap())).toContain('<p id="known">bnr_home_hero</p>');
});
