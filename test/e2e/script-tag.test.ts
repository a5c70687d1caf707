// Pages without a bundler: one script file, one global, and the hash from the release notes.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchBanners } from '../../src/server/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { packedPackage } from '../helpers/packed-package.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const APP_ID = '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a';
const HEADLINES = /Make room on the shelf|Fresh from the kiln/;
const STYLE = '<style>#hero, placard-banner { display: block; min-height: 240px }</style>';

let service: RunningService;
let browser: Browser;
let pages: HttpServer;
/** Attributes from the release notes, by file name. */
let attributes: Map<string, string>;
/** Body of the page. */
let body: string;

beforeAll(async () => {
  service = await runService([JSON.parse(await readFile('demo/workspace.json', 'utf8'))]);
  service.clock.now = Date.now();
  browser = await launchShell();
  const dist = join((await packedPackage()).folder, 'dist');
  const { stdout } = await promisify(execFile)(process.execPath, ['.ci/script-hashes.ts', dist]);
  attributes = new Map(
    [...stdout.matchAll(/`([\w.-]+)` of [\w.-]+: `([^`]+)`/g)].map(([, name, text]) => [name!, text!]),
  );
  pages = await serveHandler(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/') {
      const html = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">${STYLE}${body}`;
      return new Response(html, { headers: { 'content-type': 'text/html' } });
    }
    // Images of the demo's campaign.
    if (!pathname.endsWith('.js')) return new Response(null, { status: 204 });
    const code = await readFile(join(dist, pathname.slice(1)), 'utf8');
    return new Response(code, { headers: { 'content-type': 'text/javascript' } });
  });
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await service?.stop();
});

const tag = (name: string) => `<script src="/${name}" ${attributes.get(name)}></script>`;
const client = () => `
  const placard = Placard.createPlacard({
    endpoint: '${service.url}', apiKey: 'demo-client-key', appId: '${APP_ID}',
    appVersion: '1.0.0', userId: 'u-script',
  });`;

const open = async (html: string): Promise<{ page: Page; faults: string[] }> => {
  body = html;
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(pages.origin);
  return { page, faults };
};

test('renders a page with its own hook through the client of the small script', async () => {
  const { page, faults } = await open(`<div id="hero"></div>${tag('placard.global.js')}<script>${client()}
    placard.mount('home_hero', document.querySelector('#hero'), (banner, slot) => {
      slot.element.textContent = Placard.getStringProperty(banner, 'headline');
    });</script>`);
  await page.getByText(HEADLINES).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test('renders and counts the bootstrap of a server before the next line of the page runs', async () => {
  const address = { endpoint: service.url, apiKey: 'demo-client-key', appId: APP_ID, appVersion: '1.0.0' };
  const bootstrap = await fetchBanners({ ...address, userId: 'u-served', placements: ['home_hero'] });
  const json = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');
  const { page, faults } = await open(`<div id="hero"></div>${tag('placard.global.js')}<script>
    const hero = document.querySelector('#hero');
    const placard = Placard.createPlacard(${json({ ...address, userId: 'u-served', bootstrap })});
    placard.subscribe(({ type, event }) => { if (type === 'tracked') window.counted = event.type; });
    placard.mount('home_hero', hero, (banner, slot) => {
      slot.element.textContent = Placard.getStringProperty(banner, 'headline');
    });
    window.atOnce = hero.textContent;</script>`);
  expect(await page.evaluate(() => Reflect.get(window, 'atOnce'))).toMatch(HEADLINES);
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'counted'))).toBe('impression');
  expect(faults).toEqual([]);
  await page.close();
});

test('provides the templates and the element in the full script', async () => {
  const { page, faults } =
    await open(`<div id="hero"></div><placard-banner placement="home_hero" template="hero">
    </placard-banner>${tag('placard-all.global.js')}<script>${client()}
    placard.mount('home_hero', document.querySelector('#hero'), Placard.hero);
    Placard.providePlacard(placard);</script>`);
  await expect.poll(() => page.getByText(HEADLINES).count()).toBe(2);
  expect(faults).toEqual([]);
  await page.close();
});

test('does not run a script that was changed in transit', async () => {
  const { page, faults } = await open(tag('placard.global.js').replace(/sha384-..../, 'sha384-AAAA'));
  expect(await page.evaluate(() => 'Placard' in window)).toBe(false);
  expect(faults.join()).toContain('integrity');
  await page.close();
});
