import { describe, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../src/testing/index.ts';
import {
  capture,
  diagnose,
  open,
  pages,
  service,
  stageContext,
  stageDelivery,
  untilDelivered,
  untilDiagnostics,
} from '../helpers/delivery-stage.ts';
import { crashRenderer } from '../helpers/lifecycle-browser.ts';
import { times } from '../helpers/property.ts';

/** Number of renderer crashes in the random run. */
const KILLS = times(4);
/** Request timeout, after which a batch is in doubt. Short, so that another page soon takes over the batch of a dead page. */
const OPTIONS = { timeoutMs: 500 };

stageDelivery();
stageContext();

describe('killing a renderer', () => {
  test('case 1: right after the promise resolved does not lose the event, which is sent once', async () => {
    const page = await open(OPTIONS);
    const events = await capture(page, 3, 'impression');
    await crashRenderer(page);
    const next = await open(OPTIONS);
    await untilDiagnostics(next, { captured: 3, delivered: 3, pending: 0 });
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  });

  test('case 2: before the promise resolves leaves the event stored once or not at all', async () => {
    const page = await open(OPTIONS);
    await page.evaluate(() => {
      void globalThis.delivery.capture({ type: 'click', bannerId: 'b', placementId: 'p', userId: 'u1' });
    });
    await crashRenderer(page);
    const next = await open(OPTIONS);
    await untilDelivered(next);
    const diagnostics = await diagnose(next);
    assertConserved(diagnostics);
    expect(diagnostics.captured).toBeLessThanOrEqual(1);
    expect(service.events).toHaveLength(diagnostics.captured);
  });

  test('case 3: with its batch in flight leaves the batch in doubt for another tab', async () => {
    // Long enough for the page to die before its request completes.
    const page = await open({ timeoutMs: 5_000 });
    service.fail({ type: 'hang', stored: true });
    const events = await capture(page, 3);
    await page.evaluate(() => void globalThis.delivery.flush());
    await expect.poll(() => service.requests.length).toBe(1);
    await crashRenderer(page);
    const next = await open(OPTIONS);
    await untilDiagnostics(next, { captured: 3, delivered: 3, inDoubt: 0 });
    expect(await next.evaluate(() => globalThis.heard.map(({ type }) => type))).toContain('in-doubt');
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  });

  test('case 4: between the response and the delete resends the batch byte for byte, and it counts once', async () => {
    const page = await open(OPTIONS);
    await page.evaluate(() => {
      globalThis.gate = new Promise(() => undefined);
    });
    const events = await capture(page, 3);
    await page.evaluate(() => void globalThis.delivery.flush());
    await expect.poll(() => service.requests[0]?.status).toBe(202);
    await crashRenderer(page);
    const next = await open(OPTIONS);
    await untilDiagnostics(next, { captured: 3, delivered: 3 });
    // Twice, or more often if a response took longer than the timeout of this test.
    expect(service.requests.length).toBeGreaterThanOrEqual(2);
    expect(new Set(service.requests.map(({ text }) => text)).size).toBe(1);
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  });

  test(
    `cases 1 to 4: ${KILLS} times at random points, half of them without the chunk for failures, does not lose or duplicate events`,
    async () => {
      const durable: BannerEvent[] = [];
      for (let round = 0; round < KILLS; round += 1) {
        // Every other page cannot load the chunk that handles failures.
        pages.refuse(round % 2 === 1 ? /trouble/ : null);
        const page = await open(OPTIONS);
        service.fail({ type: 'slow', delayMs: (round * 7) % 40 });
        // Resolved captures are reported to the test at once, so that it knows of them after the page is gone.
        await page.exposeFunction('tell', (event: BannerEvent) => durable.push(event));
        await page.evaluate((name) => {
          const { tell } = globalThis as unknown as { tell: (event: unknown) => void };
          for (let i = 0; i < 20; i += 1) {
            void globalThis.delivery
              .capture({ type: 'click', bannerId: `${name}-${i}`, placementId: 'p', userId: 'u1' })
              .then(tell);
          }
          setTimeout(() => void globalThis.delivery.flush(), 5);
        }, `r${round}`);
        // At least one event is durable before the end.
        if (round === 0) await expect.poll(() => durable.length).toBeGreaterThan(0);
        await new Promise((resolve) => setTimeout(resolve, (round * 13) % 60));
        await crashRenderer(page);
        await page.close();
      }
      service.recover();
      pages.refuse(null);
      const last = await open(OPTIONS);
      await untilDelivered(last, 1);
      const { captured } = await diagnose(last);
      const keys = service.events.map(({ bannerId, time }) => `${bannerId} ${time}`);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toHaveLength(captured);
      for (const { bannerId, time } of durable) expect(keys).toContain(`${bannerId} ${time}`);
      expect(durable.length).toBeGreaterThan(0);
      expect(pages.requests.some((path) => path.includes('trouble'))).toBe(true);
    },
    90_000 + KILLS * 2_000,
  );
});
