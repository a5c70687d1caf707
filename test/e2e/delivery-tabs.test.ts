import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner.ts';
import { logName } from '../../src/client/options/options.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../src/testing/index.ts';
import {
  api,
  capture,
  diagnose,
  flush,
  open,
  service,
  stageContext,
  stageDelivery,
  untilDiagnostics,
  warmUp,
} from '../helpers/delivery-stage.ts';
import { crashRenderer } from '../helpers/lifecycle-browser.ts';

const TABS = 8;

/** Number of requests in flight at the service, and the maximum so far. */
let busy = 0;
let busiest = 0;

stageDelivery({
  async handle(request) {
    const counts = request.method === 'POST';
    if (counts) busy += 1;
    busiest = Math.max(busiest, busy);
    try {
      return await service.handle(request);
    } finally {
      if (counts) busy -= 1;
    }
  },
});
stageContext();
beforeEach(() => {
  [busy, busiest] = [0, 0];
});

const openTabs = async (count: number, options = {}): Promise<Page[]> => {
  const tabs: Page[] = [];
  for (let i = 0; i < count; i += 1) {
    tabs.push(await open(options));
  }
  return tabs;
};

test('case 36: eight tabs that capture at once have one sender, and deliver each event once', async () => {
  const tabs = await openTabs(TABS);
  service.fail({ type: 'slow', delayMs: 20 }, { times: Number.POSITIVE_INFINITY });
  const events = (await Promise.all(tabs.map((tab, i) => capture(tab, 100, 'click', `tab${i}-`)))).flat();
  await untilDiagnostics(tabs[0]!, { captured: 800, delivered: 800 });
  expect(busiest).toBe(1);
  assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  expect(service.requests.length).toBeLessThanOrEqual(18);
});

test('case 36: exactly one other tab takes over when the leader dies', async () => {
  // Long enough for the sender to die before its request completes.
  const tabs = await openTabs(4, { timeoutMs: 8_000 });
  service.fail({ type: 'hang', stored: true });
  const events = (await Promise.all(tabs.map((tab, i) => capture(tab, 20, 'click', `tab${i}-`)))).flat();
  await expect.poll(() => service.requests.length).toBe(1);
  const states = await Promise.all(tabs.map(diagnose));
  const leader = states.findIndex(({ isLeader }) => isLeader);
  expect(states.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  await crashRenderer(tabs[leader]!);
  const survivor = tabs[(leader + 1) % tabs.length]!;
  await untilDiagnostics(survivor, { captured: 80, delivered: 80, inDoubt: 0 });
  assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  const [lost, ...others] = service.requests;
  expect(others.filter(({ text }) => text === lost!.text)).toHaveLength(1);
});

test('two tabs that capture at the same time deliver all events of both', async () => {
  const tabs = await openTabs(2);
  await Promise.all(tabs.map((tab) => capture(tab, 200, 'click')));
  await Promise.all(tabs.map((tab) => flush(tab)));
  await untilDiagnostics(tabs[0]!, { captured: 400, delivered: 400, pending: 0, inDoubt: 0 });
});

test('cases 40 and 69: an opt-out in one tab stops the other at once and purges the queue of both', async () => {
  const [first, second] = (await openTabs(2, { maxDelayMs: 60_000 })) as [Page, Page];
  // A page without a cached preflight sends its first events early.
  await warmUp(first, 1);
  await warmUp(second, 2);
  service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  await capture(first, 3);
  await capture(second, 3);
  await first.evaluate(() => globalThis.delivery.disable('purge'));
  expect(await capture(second)).toEqual([null]);
  const before = service.requests.length;
  await flush(second);
  expect(service.requests).toHaveLength(before);
  const diagnostics = await diagnose(second);
  expect(diagnostics).toMatchObject({ captured: 8, delivered: 2, purged: 6, pending: 0 });
  assertConserved(diagnostics);
  await second.evaluate(() => globalThis.delivery.enable());
  await expect.poll(async () => (await capture(first))[0]).not.toBeNull();
});

test('wipe() leaves an empty store, even if the other tab is active', async () => {
  const [first, second] = (await openTabs(2, { maxDelayMs: 60_000 })) as [Page, Page];
  await capture(first, 3);
  await capture(second, 3);
  await first.evaluate(() => globalThis.delivery.wipe());
  expect(await capture(second)).toEqual([null]);
  expect(await capture(first)).toEqual([null]);
  const left = await first.evaluate(
    (name) =>
      new Promise<number>((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const count = request.result.transaction('records').objectStore('records').count();
          count.onsuccess = () => resolve(count.result);
        };
      }),
    logName(api.origin, 'app-1'),
  );
  expect(left).toBe(0);
});
