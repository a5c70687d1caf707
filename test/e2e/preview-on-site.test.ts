// A preview link of the Studio, opened on a page of the site under a strict policy.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { APP_ID, aCampaign, aVariant, CLIENT_KEY } from '../helpers/a-workspace.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../helpers/running-studio.ts';
import { watchPage } from '../helpers/watch-page.ts';

const headline = (value: string) => ({ headline: { type: 'string', value } });
// biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
const GOLD = "Hi {{${first_name} | default: 'you'}}";

let browser: Browser;
let pages: PageServer;
let studio: RunningStudio;
let api: HttpServer;
beforeAll(async () => {
  browser = await launchShell();
  pages = await startPageServer({ entries: ['index', 'templates'] });
  const campaigns = [
    aCampaign({
      campaign_id: 'spring',
      name: 'Spring',
      placements: ['home'],
      variants: [aVariant({ properties: headline('Spring is here') })],
    }),
  ];
  studio = await runStudio(
    aStudioWorkspace({
      campaigns,
      studio: { sites: [pages.origin], personas: [{ name: 'Gold', attributes: { first_name: 'Jo' } }] },
    }),
  );
  studio.clock.now = Date.now();
  api = await serveHandler((request) => studio.service.fetch(request));
  pages.set('/shop', {
    html: '<h1>Shop</h1><div id="hero" style="min-block-size: 240px"></div><p>More below</p>',
    script: `
      import { createPlacard } from '/placard/index.js';
      import { hero } from '/placard/templates.js';
      const placard = createPlacard({
        endpoint: '${api.origin}', apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '1', userId: 'u-1',
        delivery: { maxDelayMs: 100 },
      });
      globalThis.placard = placard;
      placard.mount('home', document.querySelector('#hero'), hero);`,
    headers: {
      'content-security-policy': `default-src 'none'; script-src 'self'; connect-src ${api.origin}; img-src data:; style-src 'unsafe-inline'; require-trusted-types-for 'script'`,
    },
  });
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await api?.close();
  studio?.stop();
});

/** Stores a draft, and returns its revision. */
const save = async (name: string): Promise<string> => {
  const variants = [aVariant({ properties: headline(GOLD) })];
  const campaign = aCampaign({ campaign_id: 'gold', name, placements: ['home'], variants });
  const before = await studio.store.studio.draft('test', 'gold');
  const { body } = await studio.call('PUT', '/api/drafts/gold', {
    body: { campaign, based_on: 0 },
    cookie: await studio.signIn('Ed'),
    ...(before && { ifMatch: before.revision }),
  });
  return body.revision;
};

/** A link from the Studio to the shop, with an unpublished draft. */
const link = async (): Promise<string> => {
  const revision = await save('Gold');
  const { body } = await studio.call('POST', '/api/preview-links', {
    body: { campaign_id: 'gold', revision, variant_id: 'a', persona: 'Gold', page: `${pages.origin}/shop` },
    cookie: await studio.signIn('Ed'),
  });
  return body.url;
};

test.each([360, 1280])(
  'shows the draft as for its persona, and ends the preview, at %i px',
  async (width) => {
    const url = await link();
    const page = await browser.newPage({ viewport: { width, height: 640 } });
    const complaints = await watchPage(page);
    await page.goto(url);
    const bar = page.getByRole('region', { name: 'Preview' });
    await bar.getByText('Preview of “Gold” in home.').waitFor();
    await page.getByText('Hi Jo').waitFor();
    expect(page.url()).toBe(`${pages.origin}/shop`);
    const box = (await bar.boundingBox())!;
    expect([Math.round(box.y + box.height), Math.round(box.width)]).toEqual([640, width]);
    await bar.getByRole('button', { name: 'End preview' }).click();
    await page.getByText('Spring is here').waitFor();
    expect(await bar.count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  },
);

test('reports in the bar that a draft has changed, and keeps the page unchanged', async () => {
  const url = await link();
  await save('Changed');
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByText(/No preview: The campaign has changed/).waitFor();
  await page.getByText('Spring is here').waitFor();
  await page.close();
});
