// User tokens from a page of another origin, in a real browser: what CORS allows it to send and read.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Placard } from '../../src/client/index.ts';
import { SYNC_PATH, VISITOR_JOIN_PATH } from '../../src/protocol/index.ts';
import { signUserToken } from '../../src/server/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY } from '../helpers/a-workspace.ts';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';
import { ed25519Keys } from '../helpers/token-keys.ts';

declare global {
  var placard: Placard;
}

const keys = ed25519Keys();
const VISITOR = 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';

let browser: Browser;
let pages: PageServer;
let service: RunningService;
let page: Page;
beforeAll(async () => {
  const apps = [
    { app_id: APP_ID, user_tokens: 'required', visitors: true, user_token_keys: [keys.publicPem] },
  ];
  service = await runService([aWorkspace({ apps, campaigns: [aCampaign()] })]);
  browser = await launchShell();
  pages = await startPageServer({ entries: ['index'], pages: { '/shop': {} } });
  page = await browser.newPage();
  await page.goto(`${pages.origin}/shop`);
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await service?.stop();
});

const tokenFor = (userId: string) =>
  signUserToken({ privateKey: keys.privatePem, appId: APP_ID, userId, now: () => service.clock.now });

/** The counters of the page's log. `waitForFunction` does not await a promise of its predicate. */
const diagnostics = () => page.evaluate(() => placard.diagnostics());

/** The part of a response that a page can read. */
const post = (path: string, members: Record<string, unknown>) =>
  page.evaluate(
    async ({ url, key, body }) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return {
        status: response.status,
        fault: response.headers.get('placard-user-token'),
        body: await response.json(),
      };
    },
    {
      url: service.url + path,
      key: CLIENT_KEY,
      body: { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', ...members },
    },
  );

test('a page of another origin sends its token and receives its banner', async () => {
  const answer = await post(SYNC_PATH, { placements: ['home'], user_token: await tokenFor('u-771') });
  expect(answer).toMatchObject({
    status: 200,
    fault: null,
    body: { banners: { home: { placement_id: 'home' } } },
  });
});

test('a page of another origin can read why its token was rejected', async () => {
  const user_token = await tokenFor('u-772');
  expect(await post(SYNC_PATH, { placements: ['home'], user_token })).toEqual({
    status: 401,
    fault: 'wrong_user',
    body: { error: 'Invalid user token' },
  });
});

test('a page of another origin joins its visitor', async () => {
  const user_token = await tokenFor('u-771');
  expect(await post(VISITOR_JOIN_PATH, { visitor_id: VISITOR, user_token })).toMatchObject({ status: 200 });
});

test('requests a token, receives the banner, replaces an expired token, and delivers once', async () => {
  const asked: string[] = [];
  await page.exposeFunction('getToken', async (userId: string) => {
    asked.push(userId);
    // For the service, the first token has already expired.
    const expiresInSeconds = asked.length === 1 ? 1 : 3_600;
    const now = () => service.clock.now - (asked.length === 1 ? 3_600_000 : 0);
    return signUserToken({ privateKey: keys.privatePem, appId: APP_ID, userId, expiresInSeconds, now });
  });
  pages.set('/signed', {
    html: '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>',
    script: `
      import { createPlacard, userTokens } from '/placard/index.js';
      globalThis.notices = [];
      globalThis.placard = createPlacard({
        endpoint: '${service.url}', apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '1', userId: 'u-771',
        use: [userTokens((userId) => getToken(userId))],
        delivery: { maxDelayMs: 100 },
      });
      placard.subscribe((notice) => notices.push(notice));
      placard.mount('home', document.querySelector('#slot'), (banner, { element }) => { element.textContent = banner.id; });`,
  });
  await page.goto(`${pages.origin}/signed`);
  // If a new token is rejected, the user is paused until they sign in again.
  await page.waitForFunction(() => JSON.stringify(globalThis.notices).includes('expired'));
  await page.evaluate(() => placard.identify(null).then(() => placard.identify('u-771')));
  await page.waitForFunction(() => document.querySelector('#slot')?.textContent?.startsWith('bnr'));
  await page.evaluate(() => placard.track(placard.banner('home')!, 'click'));
  await expect.poll(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
  expect(asked).toEqual(['u-771', 'u-771']);
});

test('moves views and dismissals of a visitor who signs in to the user, on every device', async () => {
  const context = await browser.newContext();
  const device = await context.newPage();
  await device.exposeFunction('getToken', tokenFor);
  const script = (userId: string | null) => `
    import { createPlacard, userTokens, visitors } from '/placard/index.js';
    globalThis.notices = [];
    globalThis.placard = createPlacard({
      endpoint: '${service.url}', apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '1', userId: ${JSON.stringify(userId)},
      use: [visitors(), userTokens((userId) => getToken(userId))], delivery: { maxDelayMs: 100 },
    });
    placard.subscribe((notice) => notices.push(notice));
    placard.mount('home', document.querySelector('#slot'), (banner, { element }) => { element.textContent = banner.id; });`;
  const html = '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>';
  pages.set('/visitor', { html, script: script(null) });
  pages.set('/user', { html, script: script('u-joined') });
  const knows = (text: string) => (document.querySelector('#slot')?.textContent ?? '').startsWith(text);
  await device.goto(`${pages.origin}/visitor`);
  await device.waitForFunction(knows, 'bnr');
  const storageKey = `placard-visitor:${APP_ID}@${service.url}`;
  const visitor = await device.evaluate((key) => localStorage.getItem(key), storageKey);
  expect(visitor).toMatch(/^placard-visitor-/);
  await device.evaluate(() => placard.track(placard.banner('home')!, 'dismiss'));
  await device.evaluate(() => placard.identify('u-joined'));
  await device.waitForFunction((key) => localStorage.getItem(key) === null, storageKey);
  // Another device of the user receives the dismissal, too.
  const other = await (await browser.newContext()).newPage();
  await other.exposeFunction('getToken', tokenFor);
  await other.goto(`${pages.origin}/user`);
  await other.waitForFunction(() => JSON.stringify(globalThis.notices).includes('"synced"'));
  expect(await other.evaluate(() => placard.banner('home'))).toBeNull();
  await other.context().close();
  await context.close();
});

test('case 76: a device whose clock is 50 seconds fast uses tokens valid for one minute, and requests few', async () => {
  let asked = 0;
  await page.exposeFunction('shortToken', async (userId: string) => {
    asked += 1;
    return signUserToken({
      privateKey: keys.privatePem,
      appId: APP_ID,
      userId,
      expiresInSeconds: 60,
      now: () => service.clock.now,
    });
  });
  pages.set('/fast-clock', {
    head: `<script>{
      const now = Date.now;
      Date.now = () => now() + 50_000;
    }</script>`,
    html: '<div id="slot" style="inline-size: 600px; min-block-size: 200px"></div>',
    script: `
      import { createPlacard, userTokens } from '/placard/index.js';
      globalThis.notices = [];
      globalThis.placard = createPlacard({
        endpoint: '${service.url}', apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '2', userId: 'u-772',
        use: [userTokens((userId) => shortToken(userId))],
        delivery: { maxDelayMs: 100 },
      });
      placard.subscribe((notice) => notices.push(notice));
      placard.mount('home', document.querySelector('#slot'), (banner, { element }) => { element.textContent = banner.id; });`,
  });
  await page.goto(`${pages.origin}/fast-clock`);
  await page.waitForFunction(() => document.querySelector('#slot')?.textContent?.startsWith('bnr'));
  for (let click = 0; click < 5; click += 1) {
    await page.evaluate(() => placard.track(placard.banner('home')!, 'click').then(() => placard.flush()));
  }
  // The impression and five clicks, besides the two events of the last page.
  await expect.poll(diagnostics).toMatchObject({ captured: 8, delivered: 8 });
  expect(await page.evaluate(() => globalThis.notices.filter(({ type }) => type === 'failed'))).toEqual([]);
  expect(asked).toBe(1);
});
