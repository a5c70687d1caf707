// End to end with real parts: a workspace file, the service as a process with a SQLite file, the client in Chromium,
// and the export command.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BannerEvent, Diagnostics, Notice, Placard } from '../../src/client/index.ts';
import { TRACK_PATH } from '../../src/protocol/index.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../helpers/a-workspace.ts';
import { launchShell } from '../helpers/browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { patience } from '../helpers/patience.ts';
import { runCli, serveCli } from '../helpers/run-cli.ts';

type ServedCli = Awaited<ReturnType<typeof serveCli>>;

/** Globals that the test page exposes to the test. */
interface TestWindow {
  placard: Placard;
  notices: Notice[];
  /** Time of the event that the correction hook drops. */
  hopeless: number;
}

const SCRIPT = `
  import { createPlacard } from '/placard/index.js';
  import { hero } from '/placard/templates.js';
  const query = new URLSearchParams(location.search);
  // Corrects events by a time one minute earlier, which no other click has, and drops those that the test calls hopeless.
  const onEventRejected = (event) => (event.time === window.hopeless ? null : { ...event, time: event.time - 60_000 });
  const placard = createPlacard({
    endpoint: query.get('api'), apiKey: '${CLIENT_KEY}', appId: '${APP_ID}', appVersion: '1.0.0', userId: 'u-loop', onEventRejected,
    delivery: { maxDelayMs: Number(query.get('wait') ?? 5_000) },
  });
  window.placard = placard;
  window.notices = [];
  placard.subscribe((notice) => window.notices.push(notice));
  placard.mount('home', document.querySelector('#home'), hero);
`;

let browser: Browser;
let pages: PageServer;
let folder: string;
let file: string;
let database: string;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launchShell();
  pages = await startPageServer({
    pages: { '/loop': { html: '<div id="home" style="min-height: 240px"></div>', script: SCRIPT } },
  });
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-loop-'));
  file = join(folder, 'workspace.json');
  database = join(folder, 'placard.db');
  const campaign = aCampaign({
    variants: [aVariant({ properties: { headline: { type: 'string', value: 'Autumn sale' } } })],
  });
  await writeFile(file, JSON.stringify(aWorkspace({ campaigns: [campaign] })));
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await rm(folder, { recursive: true });
});

const serve = (port = 0) => serveCli(['--workspace', file, '--db', database, '--port', String(port)]);

const stop = async (service: ServedCli) => {
  service.child.kill('SIGTERM');
  expect((await service.exit).code).toBe(0);
};

const open = async (query: Record<string, string>): Promise<Page> => {
  const page = await context.newPage();
  await page.goto(`${pages.origin}/loop?${new URLSearchParams(query)}`);
  await page.getByText('Autumn sale').waitFor();
  return page;
};

const diagnose = (page: Page): Promise<Diagnostics> =>
  page.evaluate(() => (window as unknown as TestWindow).placard.diagnostics());

const until = (page: Page, wanted: Partial<Diagnostics>) =>
  expect.poll(() => diagnose(page), { timeout: patience(60_000) }).toMatchObject(wanted);

const click = (page: Page): Promise<BannerEvent | null> =>
  page.evaluate(() => {
    const { placard } = window as unknown as TestWindow;
    const banner = placard.banner('home');
    if (!banner) throw new Error('No banner to click');
    return placard.track(banner, 'click');
  });

const exported = async (): Promise<Record<string, unknown>[]> => {
  const { stdout, code } = await runCli(['export', 'banner-events', '--db', database]);
  expect(code).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe('from a campaign file to the export', () => {
  test('syncs a banner, paints it from the cache during an outage, and exports each view and offline click once', async () => {
    let service = await serve();
    const port = Number(new URL(service.url).port);
    const page = await open({ api: service.url });
    const first = await page.evaluate(() => (window as unknown as TestWindow).placard.banner('home')?.id);
    await until(page, { captured: 1, delivered: 1 });
    await stop(service);

    // Painted from the cache, because the page is offline.
    await page.reload();
    await page.getByText('Autumn sale').waitFor();
    expect(await page.evaluate(() => (window as unknown as TestWindow).placard.banner('home')?.id)).toBe(
      first,
    );

    await diagnose(page);
    await context.setOffline(true);
    const clicked = await click(page);
    expect(clicked).toMatchObject({ type: 'click', bannerId: first, userId: 'u-loop' });
    expect(await diagnose(page)).toMatchObject({ captured: 2, delivered: 1 });

    service = await serve(port);
    await context.setOffline(false);
    await page.evaluate(() => (window as unknown as TestWindow).placard.flush());
    await until(page, { captured: 2, delivered: 2, pending: 0, inDoubt: 0 });

    const events = await exported();
    expect(events.map(({ event_type }) => event_type).sort()).toEqual(['click', 'impression']);
    for (const event of events) {
      expect(event).toMatchObject({
        external_user_id: 'u-loop',
        app_id: APP_ID,
        banner_id: first,
        campaign_id: 'c1',
        variant_id: 'a',
        placement_id: 'home',
        is_control: false,
      });
    }
    await stop(service);
    expect(await exported()).toEqual(events);
  });

  test('corrects and delivers one of two skipped events, and moves the other one to the dead letters', async () => {
    const service = await serve();
    // Nothing is sent between the clicks, regardless of how long they take.
    const page = await open({ api: service.url, wait: '600000' });
    await until(page, { captured: 1, delivered: 1 });

    await context.setOffline(true);
    const clicks: BannerEvent[] = [];
    for (let i = 0; i < 5; i += 1) clicks.push((await click(page))!);
    await page.evaluate((time) => {
      (window as unknown as TestWindow).hopeless = time;
    }, clicks[3]!.time);
    // On its way to the service, the batch loses two timestamps, once.
    await page.route(
      `${service.url}${TRACK_PATH}`,
      async (route) => {
        const body = route.request().postDataJSON() as { events: { timestamp?: string }[] };
        expect(body.events).toHaveLength(5);
        for (const index of [1, 3]) delete body.events[index]!.timestamp;
        await route.continue({ postData: JSON.stringify(body) });
      },
      { times: 1 },
    );
    await context.setOffline(false);
    await page.evaluate(() => (window as unknown as TestWindow).placard.flush());
    await until(page, { captured: 6, delivered: 5, deadLetters: 1, pending: 0 });

    const letters = await page.evaluate(() => (window as unknown as TestWindow).placard.deadLetters());
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({ event: clicks[3], reason: "'timestamp' is required", attempts: 1 });
    const skipped = await page.evaluate(() =>
      (window as unknown as TestWindow).notices.flatMap((notice) =>
        notice.type === 'rejected' ? [notice.event.time] : [],
      ),
    );
    expect(skipped).toEqual([clicks[1]!.time, clicks[3]!.time]);

    const stored = (await exported()).filter(({ event_type }) => event_type === 'click');
    const times = [clicks[0]!.time, clicks[1]!.time - 60_000, clicks[2]!.time, clicks[4]!.time];
    expect(stored.map(({ timestamp }) => timestamp).sort()).toEqual(
      times.map((time) => new Date(time).toISOString()).sort(),
    );
    await stop(service);
  });
});
