import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

/** A host's own test page: the client with the fake service in the same page, without a network. */
const script = `
  import { createPlacard } from '/placard/index.js';
  import { buildBanner, assertConserved, assertDeliveredExactlyOnce, createFakeService } from '/placard/testing.js';

  const service = createFakeService({ banners: { hero: buildBanner('hero', { title: 'Sale' }) } });
  const placard = createPlacard({
    endpoint: service.origin, apiKey: 'client-key', appId: 'shop', appVersion: '1', userId: 'kim',
    platform: { fetch: service.fetch },
  });
  addEventListener('unhandledrejection', ({ reason }) => {
    document.body.dataset.outcome = JSON.stringify(String(reason));
  });
  const shown = new Promise((resolve) => placard.subscribe(({ type }) => type === 'shown' && resolve()));
  placard.mount('hero', document.getElementById('slot'), (banner, slot) => {
    slot.element.textContent = banner.properties.title.value;
  });
  await shown;
  service.fail({ type: 'skip', indices: [1], reason: 'Not today' });
  const banner = placard.banner('hero');
  const events = await Promise.all([0, 1, 2].map(() => placard.track(banner, 'click')));
  await placard.flush();
  const clicks = () => service.events.filter(({ type }) => type === 'click');
  const afterSkip = clicks().length;
  for (let tries = 0; clicks().length < 3 && tries < 250; tries += 1) {
    await placard.flush();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assertDeliveredExactlyOnce(clicks(), events);
  assertConserved(await placard.diagnostics());
  document.body.dataset.outcome = JSON.stringify({
    text: document.getElementById('slot').textContent,
    afterSkip,
    keys: [...new Set(service.requests.map(({ headers }) => headers.get('authorization')))],
  });
`;

describe('the test kit in a browser', () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    pages = await startPageServer({
      entries: ['index', 'testing'],
      pages: { '/kit': { html: '<div id="slot" style="width: 300px; height: 100px"></div>', script } },
    });
    browser = await launchShell();
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.close();
  });

  it('drives the client without a network, including faults and matchers', async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(pages.origin)) elsewhere.push(request.url());
    });
    await page.goto(`${pages.origin}/kit`);
    await page.waitForFunction(() => document.body.dataset['outcome']);
    const outcome = JSON.parse((await page.evaluate(() => document.body.dataset['outcome']))!);
    expect(outcome).toEqual({ text: 'Sale', afterSkip: 2, keys: ['Bearer client-key'] });
    expect([errors, elsewhere.filter((url) => !url.startsWith('data:'))]).toEqual([[], []]);
  });
});
