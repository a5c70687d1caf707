import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../src/testing/index.ts';
import {
  api,
  capture,
  deliveryUrl,
  diagnose,
  flush,
  openDelivery,
  pages,
  service,
  stageDelivery,
  startDeliveryPages,
  untilDelivered,
  untilDiagnostics,
  warmUp,
} from '../helpers/delivery-stage.ts';
import {
  hide,
  type LifecycleBrowser,
  launchLifecycleBrowser,
  show,
  throughBfcache,
  WHERE_STORED,
  WHOLE_CHROMIUM,
  whileFrozen,
} from '../helpers/lifecycle-browser.ts';

/** Nothing is sent automatically during a test; a batch of a closed page is taken over after ten seconds. */
const QUIET = { maxDelayMs: 600_000, maxBatchSize: 2_000, timeoutMs: 5_000 };

let lifecycle: LifecycleBrowser;
let origin: string;
let opened: Page[] = [];

// Each test has its own origin, and so its own store in the shared profile.
stageDelivery({ startPages: () => startDeliveryPages(16) });
beforeAll(async () => {
  lifecycle = await launchLifecycleBrowser();
});
afterAll(() => lifecycle?.close());
beforeEach(() => {
  origin = pages.origins.pop()!;
});
afterEach(async () => {
  for (const page of opened) await page.close().catch(() => undefined);
  opened = [];
});

const open = async (options = {}, more = {}): Promise<Page> => {
  const page = await openDelivery(lifecycle, deliveryUrl(origin, api.origin, options, more));
  opened.push(page);
  return page;
};

/** A request of another client that holds the quota: the service never responds to it. */
const takeKeepaliveQuota = async (page: Page): Promise<void> => {
  service.fail({ type: 'hang' }, { path: '/foreign' });
  await page.evaluate((url) => {
    void fetch(url, { method: 'POST', keepalive: true, body: 'x'.repeat(64 * 1024 - 100), mode: 'no-cors' });
  }, `${api.origin}/foreign`);
  await expect.poll(() => service.requests.length).toBe(1);
};

describe('a hidden page', () => {
  test('case 27: sends the most valuable of 100 KiB at once within the budget, and the rest later', async () => {
    const page = await open(QUIET);
    await warmUp(page);
    await capture(page, 900, 'impression', 'impression-of-a-banner-');
    await capture(page, 50, 'click');
    await capture(page, 10, 'dismiss');
    await hide(page);
    await expect.poll(() => service.requests.length).toBeGreaterThan(0);
    await expect.poll(async () => (await diagnose(page)).delivered).toBeGreaterThan(100);
    const bytes = service.requests.reduce((sum, { text }) => sum + text.length, 0);
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThanOrEqual(60_000);
    const types = service.events.map(({ type }) => type);
    expect(types.filter((type) => type !== 'impression')).toHaveLength(60);
    const diagnostics = await diagnose(page);
    assertConserved(diagnostics);
    expect(diagnostics.pending).toBe(960 - types.length);
    await show(page);
    await flush(page);
    await untilDiagnostics(page, { captured: 961, delivered: 961 });
  });

  test('case 27: defers events without losses if other requests used up the keepalive quota', async () => {
    const page = await open(QUIET);
    await warmUp(page);
    const events = await capture(page, 100, 'click');
    await takeKeepaliveQuota(page);
    await hide(page);
    await untilDiagnostics(page, { delivered: 1, inDoubt: 100 });
    await show(page);
    await flush(page);
    await untilDiagnostics(page, { delivered: 101, inDoubt: 0 });
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  });

  test('case 28: stores a click just before a navigation, sends it on exit, and counts it once', async () => {
    const page = await open(QUIET);
    await warmUp(page);
    await page.evaluate((target) => {
      const link = document.createElement('a');
      link.href = target;
      link.textContent = 'Buy';
      link.addEventListener('click', () => {
        void globalThis.delivery.capture({ type: 'click', bannerId: 'out', placementId: 'p', userId: 'u1' });
      });
      document.body.append(link);
    }, `${api.origin}/elsewhere`);
    await page.getByText('Buy').click();
    await page.waitForURL(`${api.origin}/elsewhere`);
    const next = await open();
    await untilDiagnostics(next, { captured: 2, delivered: 2 });
    expect(service.events.filter(({ bannerId }) => bannerId === 'out')).toHaveLength(1);
  });

  test('caches the preflight on page exit', async () => {
    const page = await open();
    await capture(page, 1);
    await untilDiagnostics(page, { delivered: 1 });
    const before = service.preflights();
    expect(before).toBeLessThanOrEqual(1);
    await capture(page, 1, 'click', 'last');
    await hide(page);
    await expect.poll(() => service.events.length).toBe(2);
    expect(service.preflights() - before).toBeLessThanOrEqual(1);
  });
});

describe('the back/forward cache', WHERE_STORED, () => {
  test('cases 29 and 49: accepts a page during a flush, and settles its request once after the return', async (context) => {
    context.skip(!lifecycle.hasBfcache, WHOLE_CHROMIUM);
    const page = await open({ timeoutMs: 5_000 });
    service.fail({ type: 'slow', delayMs: 150 });
    await capture(page, 3);
    await page.evaluate(() => void globalThis.delivery.flush());
    await expect.poll(() => service.requests.length).toBe(1);
    // A transaction is open on page exit: it commits or aborts, and does not block other pages.
    await page.evaluate(() => {
      addEventListener('pagehide', () => {
        void globalThis.delivery.capture({ type: 'click', bannerId: 'last', placementId: 'p', userId: 'u1' });
      });
    });
    await throughBfcache(page, `${origin}/bare`);
    await page.evaluate(() =>
      globalThis.delivery.capture({ type: 'click', bannerId: 'back', placementId: 'p', userId: 'u1' }),
    );
    await untilDelivered(page);
    const diagnostics = await diagnose(page);
    assertConserved(diagnostics);
    expect(service.events).toHaveLength(diagnostics.captured);
    expect(diagnostics.captured).toBeGreaterThanOrEqual(4);
  });

  test('case 29: another page sends while a page is cached, and the restored page does not resend events', async (context) => {
    context.skip(!lifecycle.hasBfcache, WHOLE_CHROMIUM);
    const page = await open(QUIET);
    // The page may or may not try once before it exits.
    service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    const events = await capture(page, 3);
    await throughBfcache(page, `${origin}/bare`, async () => {
      service.recover();
      const other = await open();
      await untilDiagnostics(other, { delivered: 3 });
      await other.close();
    });
    const before = service.requests.length;
    await flush(page);
    await hide(page);
    await show(page);
    expect(await diagnose(page)).toMatchObject({ captured: 3, delivered: 3 });
    expect(service.requests).toHaveLength(before);
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
    // The service may have accepted the request sent on page exit, but no page read the response. Then the same bytes come again.
    const taken = service.requests.filter(({ status }) => status === 202).map(({ text }) => text);
    expect(new Set(taken).size).toBe(1);
  });
});

describe('freezing', () => {
  test('case 30: another tab replaces a frozen sender within the lease time, without duplicates after the thaw', async () => {
    const page = await open({ timeoutMs: 60_000 });
    service.fail({ type: 'hang' });
    await capture(page, 1, 'click', 'frozen');
    await page.evaluate(() => void globalThis.delivery.flush());
    await expect.poll(() => service.requests.length).toBe(1);
    expect(await diagnose(page)).toMatchObject({ isLeader: true });
    await whileFrozen(page, async () => {
      const other = await open();
      await capture(other, 1, 'click', 'other');
      await untilDiagnostics(other, { delivered: 1 });
    });
    expect(service.events.map(({ bannerId }) => bannerId)).toEqual(['other0']);
  });
});
