// Hydrates in a real browser what a server rendered from a bootstrap: the same nodes, no warning, one impression.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { asFunction } from '../helpers/engines.ts';
import {
  FIRST_HTML,
  type Framework,
  firstHtml,
  KEPT,
  RENDERED,
  renderedPage,
} from '../helpers/first-html.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import type { Told } from './pages/local-placard.ts';
import type {} from './pages/rendered-page.ts';

const FRAMEWORKS: Framework[] = ['react', 'vue'];

let pages: PageServer;
let browser: Browser;
beforeAll(async () => {
  pages = await startPageServer({ entries: [], modules: RENDERED });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

const open = async (framework: Framework) => {
  pages.set(`/${framework}`, await renderedPage(framework));
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(`${pages.origin}/${framework}`);
  return { page, complaints, close: () => context.close() };
};

const told = (page: Page): Promise<Told> => page.evaluate(() => Reflect.get(window, 'told'));
const tracked = async (page: Page): Promise<string[]> =>
  (await told(page)).notices.flatMap((notice) =>
    notice.type === 'tracked' ? [`${notice.event.type} ${notice.event.placementId}`] : [],
  );

test.each(FRAMEWORKS)('%s renders the banners of a bootstrap, except control banners', async (name) => {
  const html = await firstHtml(name);
  expect(html).toContain('<a href="/sale">For home_hero</a>');
  expect(html).not.toContain('For held_out');
});

test.each(FRAMEWORKS)(
  '%s hydrates the same node without removals or warnings, and the browser counts the banners once',
  async (name) => {
    const { page, complaints, close } = await open(name);
    await expect.poll(() => tracked(page)).toContain('impression home_hero');
    await page.getByRole('link', { name: 'For home_hero' }).click({ modifiers: ['ControlOrMeta'] });
    await expect.poll(() => tracked(page)).toContain('click home_hero');
    expect(await page.evaluate(asFunction(FIRST_HTML))).toEqual(KEPT);
    expect(complaints).toEqual([]);
    expect((await tracked(page)).filter((event) => event === 'impression home_hero')).toHaveLength(1);
    // The impression of the held-out user is counted, too, although nothing is drawn.
    await expect.poll(() => tracked(page)).toContain('impression held_out');
    await close();
  },
);

test.each(FRAMEWORKS)('%s removes banners that its client knows to be expired', async (name) => {
  const { page, complaints, close } = await open(name);
  expect(await firstHtml(name)).toContain('For gone');
  // The sync replaces it with another banner, which may be shown.
  await expect.poll(async () => (await told(page)).notices.some(({ type }) => type === 'synced')).toBe(true);
  const shown = (await told(page)).notices.flatMap((notice) => (notice.type === 'shown' ? [notice] : []));
  expect(shown.some(({ banner }) => banner.placementId === 'gone' && banner.expiresAt !== null)).toBe(false);
  expect(complaints).toEqual([]);
  await close();
});

test('useBanner returns the bootstrap on the server', async () => {
  expect(await firstHtml('react')).toContain('<p id="known">bnr_home_hero</p>');
});
