// Browser profiles that lost part of their data: a backup restored them without it, or the browser evicted it.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Placard } from '../../src/client/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { BROWSER_ARGUMENTS, findBrowser } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { patience } from '../helpers/patience.ts';

declare global {
  var placard: Placard;
  /** Kinds of the failures that the client reported. */
  var failures: string[];
}

/** Chromium stores values over 64 KiB, once compressed, in separate files beside the database. */
const LARGE = randomBytes(150_000).toString('base64');

let pages: PageServer;
let service: FakeService;
let api: HttpServer;
let profile: string;
let running: BrowserContext | undefined;

beforeAll(async () => {
  pages = await startPageServer({ entries: ['index'], minify: true });
});
afterAll(() => pages?.close());
beforeEach(async () => {
  profile = await mkdtemp(join(tmpdir(), 'placard-restored-'));
  service = createFakeService({ banners: { home: buildBanner('home', { headline: 'Sale', text: LARGE }) } });
  api = await serveHandler(service.handle);
  pages.set('/shop', {
    html: '<div id="slot" style="inline-size: 300px; block-size: 100px"></div>',
    script: `
      import { createPlacard } from '/placard/index.js';
      globalThis.failures = [];
      globalThis.placard = createPlacard({
        endpoint: '${api.origin}', apiKey: 'client-key', appId: 'restored', appVersion: '1', userId: 'u-1',
        delivery: { maxDelayMs: 100 },
      });
      placard.subscribe((notice) => notice.type === 'failed' && failures.push(notice.kind));
      placard.mount('home', document.querySelector('#slot'), (banner, { element }) => {
        element.textContent = banner.properties.headline.value;
        return () => element.replaceChildren();
      });`,
  });
});
afterEach(async () => {
  await running?.close();
  await api?.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 20 });
});

const start = async (): Promise<Page> => {
  const { path, env } = await findBrowser('shell');
  running = await chromium.launchPersistentContext(profile, {
    executablePath: path,
    env: { ...process.env, ...env } as Record<string, string>,
    args: BROWSER_ARGUMENTS,
  });
  running.setDefaultTimeout(patience(30_000));
  const page = running.pages()[0]!;
  page.on('pageerror', (error) => expect.fail(`The page got an error: ${error}`));
  await page.goto(`${pages.origin}/shop`);
  return page;
};

/** Removes each entry of the profile whose name matches `isLost`, at any depth. */
const restartWithout = async (isLost: (name: string) => boolean): Promise<Page> => {
  await running!.close();
  const entries = await readdir(profile, { recursive: true });
  const lost = entries.filter((entry) => isLost(entry.split('/').at(-1)!));
  expect(lost).not.toEqual([]);
  for (const entry of lost) await rm(join(profile, entry), { recursive: true, force: true });
  return start();
};

const showsSale = (page: Page) =>
  page.waitForFunction(() => document.querySelector('#slot')?.textContent === 'Sale');
const delivered = (page: Page) =>
  page.evaluate(() => placard.diagnostics().then(({ captured, delivered }) => [captured, delivered]));
const syncs = () => service.requests.filter(({ path }) => path.endsWith('/sync')).length;

test('case 72: requests a record again if its file is missing, and later pages paint from the cache', async () => {
  const first = await start();
  await showsSale(first);
  await expect.poll(() => service.events.length).toBe(1);

  const second = await restartWithout((name) => name.endsWith('.indexeddb.blob'));
  await showsSale(second);
  await second.evaluate(() => placard.track(placard.banner('home')!, 'click'));
  await expect.poll(() => service.events.map(({ type }) => type).sort()).toContain('click');

  expect(await second.evaluate(() => failures)).toEqual([]);

  // The record is complete again: the page shows the banner although the service is down.
  service.fail({ type: 'status', status: 503 });
  await second.reload();
  await showsSale(second);
  expect(await second.evaluate(() => failures)).not.toContain('storage');
});

test('case 73: recreates a database that was evicted while localStorage remained', async () => {
  const first = await start();
  await showsSale(first);
  await first.evaluate(() => localStorage.setItem('host', 'stays'));
  await expect.poll(() => service.events.length).toBe(1);

  const before = syncs();
  const second = await restartWithout((name) => name === 'IndexedDB');
  expect(await second.evaluate(() => localStorage.getItem('host'))).toBe('stays');
  await showsSale(second);
  expect(syncs()).toBeGreaterThan(before);
  await second.evaluate(() => placard.track(placard.banner('home')!, 'click'));
  await expect.poll(() => service.events.map(({ type }) => type)).toContain('click');
  expect(await second.evaluate(() => failures)).toEqual([]);
});

test('case 74: retries a read that fails with UnknownError during a flush on a new connection', async () => {
  const page = await start();
  await showsSale(page);
  await expect.poll(() => service.events.length).toBe(1);
  await page.evaluate(async () => {
    const { getAll } = IDBObjectStore.prototype;
    // As in WebKit after its database process dies: the request fails, and the connection stays dead.
    IDBObjectStore.prototype.getAll = function (...args) {
      IDBObjectStore.prototype.getAll = getAll;
      const request = getAll.apply(this, args);
      const failing = new EventTarget() as IDBRequest;
      Object.defineProperty(failing, 'error', { value: new DOMException('Connection lost', 'UnknownError') });
      Object.defineProperty(failing, 'transaction', { value: request.transaction });
      request.onsuccess = () => {
        failing.onerror?.(new Event('error'));
        failing.dispatchEvent(new Event('error'));
      };
      return failing;
    };
    await placard.track(placard.banner('home')!, 'click');
    await placard.track(placard.banner('home')!, 'click');
    await placard.flush();
  });
  await expect.poll(() => delivered(page)).toEqual([3, 3]);
  expect(service.events.map(({ type }) => type).sort()).toEqual(['click', 'click', 'impression']);
  expect(await page.evaluate(() => failures)).toEqual([]);
});
