// The oldest browsers that the README names, simulated by a new one with all younger APIs removed.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../src/protocol/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { nightly } from '../helpers/property.ts';

/** APIs that Chrome 100, Firefox 101 or Safari 16.4 lack, of all that a page may call. */
const YOUNGER = `
  Array.fromAsync Array.prototype.findLast Array.prototype.findLastIndex Array.prototype.toReversed
  Array.prototype.toSorted Array.prototype.toSpliced Array.prototype.with ArrayBuffer.prototype.transfer
  AbortSignal.any AbortSignal.timeout Blob.prototype.bytes Document.prototype.startViewTransition
  Element.prototype.checkVisibility Element.prototype.setHTMLUnsafe Error.isError Headers.prototype.getSetCookie
  HTMLElement.prototype.inert HTMLElement.prototype.showPopover IDBFactory.prototype.databases
  IDBObjectStore.prototype.getAllRecords Intl.Segmenter Iterator Map.groupBy Map.prototype.getOrInsert Math.sumPrecise
  Object.groupBy Promise.try Promise.withResolvers ReadableStream.from RegExp.escape Response.json
  Response.prototype.bytes Set.prototype.difference Set.prototype.intersection Set.prototype.isSubsetOf
  Set.prototype.union String.prototype.isWellFormed String.prototype.toWellFormed
  Uint8Array.fromBase64 URL.canParse URL.parse URLSearchParams.prototype.size fetchLater navigation
  requestIdleCallback scheduler trustedTypes CompressionStream TransformStream OffscreenCanvas
  ReadableStream.prototype.values
`
  .trim()
  .split(/\s+/);

let browser: Browser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates'], minify: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService({
    banners: { home_hero: buildBanner('home_hero', { headline: 'Summer sale' }) },
  });
  api = await serveHandler(service.handle);
  pages.set('/shop', {
    html: '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>',
    script: `
      import { createPlacard } from '/placard/index.js';
      import { hero } from '/placard/templates.js';
      globalThis.placard = createPlacard({
        endpoint: '${api.origin}', apiKey: 'client-key', appId: 'old', appVersion: '1',
        userId: location.hash.slice(1), delivery: { maxDelayMs: 100 },
      });
      globalThis.notices = [];
      placard.subscribe((notice) => notices.push(notice));
      placard.mount('home_hero', document.querySelector('#slot'), hero);`,
  });
});
afterEach(() => api.close());

/** A visit of `user`, who sees a banner and clicks on it. Returns the failures. */
const visit = async (user: string, missing: string[]): Promise<string[]> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.addInitScript((paths) => {
    for (const path of paths) {
      const names = path.split('.');
      const last = names.pop()!;
      let owner = globalThis as never as Record<string, never>;
      for (const name of names) owner = owner?.[name] as never;
      if (owner && !delete owner[last]) throw new Error(`${path} stays`);
    }
  }, missing);
  await page.goto(`${pages.origin}/shop#${user}`);
  await page.getByText('Summer sale').waitFor();
  await page.evaluate(() => placard.track(placard.banner('home_hero')!, 'click'));
  const types = () => service.events.filter(({ userId }) => userId === user).map(({ type }) => type);
  await expect.poll(() => types().sort(), { message: user }).toEqual(['click', 'impression']);
  const told = await page.evaluate(() => notices.filter(({ type }) => type === 'failed'));
  await context.close();
  return [...faults, ...told.map((notice) => JSON.stringify(notice))];
};

test('banners, sync and delivery work without newer browser features, also after an outage', async () => {
  service.fail({ type: 'status', status: 503 }, { path: SYNC_PATH });
  service.fail({ type: 'status', status: 503 }, { path: TRACK_PATH });
  const failed = await visit('everything', YOUNGER);
  expect(failed).toEqual([expect.stringContaining('503'), expect.stringContaining('503')]);
});

// Above, all of it is missing at once. Alone, each costs a visit.
test('banners, sync and delivery work if any one of the features is missing', nightly(), async () => {
  const left = [...YOUNGER];
  const failed: string[] = [];
  const lane = async () => {
    for (let path = left.pop(); path; path = left.pop()) failed.push(...(await visit(path, [path])));
  };
  // Not more at once: on two slow cores, the disk of one of eight pages timed out, and the client reported it.
  await Promise.all(Array.from({ length: 3 }, lane));
  expect(failed).toEqual([]);
});
