// Old libraries add members to `Object.prototype`, which every `for … in` without an own-property check visits.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

let browser: Browser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;

/** The file for a plain `<script>`, as published in the package. */
const buildScript = async (): Promise<string> => {
  const outDir = await mkdtemp(join(tmpdir(), 'placard-script-'));
  try {
    await build({ mode: 'script', logLevel: 'error', build: { outDir } });
    return await readFile(join(outDir, 'placard.global.js'), 'utf8');
  } finally {
    await rm(outDir, { recursive: true });
  }
};

beforeAll(async () => {
  const [shell, server, script] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates', 'element'], minify: true }),
    buildScript(),
  ]);
  [browser, pages] = [shell, server];
  pages.file('/placard.global.js', script, { 'content-type': 'text/javascript' });
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService({
    banners: { home_hero: buildBanner('home_hero', { headline: 'Summer sale' }) },
  });
  api = await serveHandler(service.handle);
});
afterEach(() => api.close());

const POLLUTION = `
  Object.prototype.extend = function () { throw new Error('called'); };
  Object.prototype.isLegacy = 'yes';
  Array.prototype.last = function () { return this[this.length - 1]; };
  Array.prototype.toJSON = function () { return '[' + this.join() + ']'; };`;
const SLOT = '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>';
const options = () =>
  `{ endpoint: '${api.origin}', apiKey: 'client-key', appId: crypto.randomUUID(), appVersion: '1', userId: 'u-1',
     delivery: { maxDelayMs: 100 } }`;
const draw = `(banner, { element }) => { element.textContent = banner.properties.headline.value; }`;

/** The page shows the banner, and its impression and a click reach the service. */
const expectBanner = async (path: string): Promise<void> => {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(pages.origin + path);
  await page.getByText('Summer sale').waitFor();
  expect(await page.evaluate('nextLineRan')).toBe(true);
  await page.evaluate(() => placard.track(placard.banner('home_hero')!, 'click'));
  const types = () => service.events.map(({ type }) => type).sort();
  await expect.poll(types, { message: path }).toEqual(['click', 'impression']);
  expect(faults).toEqual([]);
  await page.close();
};

test.each([
  ['before', POLLUTION, ''],
  ['after', '', POLLUTION],
])(
  'a page that extends Object.prototype %s the client is created shows, counts and delivers',
  async (_, early, late) => {
    pages.set('/polluted', {
      html: SLOT,
      head: `<script>${early}</script>`,
      script: `
      import { createPlacard } from '/placard/index.js';
      import { hero } from '/placard/templates.js';
      globalThis.placard = createPlacard(${options()});
      placard.mount('home_hero', document.querySelector('#slot'), hero);
      ${late}
      globalThis.nextLineRan = true;`,
    });
    await expectBanner('/polluted');
  },
);

test.each([
  ['before', POLLUTION, ''],
  ['after', '', POLLUTION],
])(
  'the script build loads on a page that extends Object.prototype %s it, and the next line runs',
  async (_, early, late) => {
    pages.set('/script', {
      head: `<script>${early}</script><script src="/placard.global.js"></script><script>${late}</script>`,
      html: `${SLOT}<script>
      globalThis.placard = Placard.createPlacard(${options()});
      placard.mount('home_hero', document.querySelector('#slot'), ${draw});
      globalThis.nextLineRan = true;
    </script>`,
    });
    await expectBanner('/script');
  },
);

test('an element works on a page that extends Object.prototype', async () => {
  pages.set('/element', {
    head: `<script>${POLLUTION}</script>`,
    html: '<placard-banner placement="home_hero" template="hero" style="min-block-size: 200px"></placard-banner>',
    script: `
      import { createPlacard } from '/placard/index.js';
      import { providePlacard } from '/placard/element.js';
      globalThis.placard = createPlacard(${options()});
      providePlacard(placard);
      globalThis.nextLineRan = true;`,
  });
  await expectBanner('/element');
});
