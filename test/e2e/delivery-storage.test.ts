import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { BannerEvent } from '../../src/client/banner.ts';
import { logName } from '../../src/client/options/options.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../src/testing/index.ts';
import {
  api,
  capture,
  context,
  deliveryUrl,
  diagnose,
  flush,
  open,
  pages,
  ready,
  service,
  stageContext,
  stageDelivery,
  untilDiagnostics,
} from '../helpers/delivery-stage.ts';

declare global {
  /** Whether the client was in memory mode, shortly before and shortly after its storage timeout. */
  var gaveUp: boolean[];
}

/** Nothing is sent automatically, except the first events, which warm the preflight at the first pause. */
const QUIET = { maxDelayMs: 60_000 };

stageDelivery();
stageContext();

const getErrors = (page: Page): string[] => {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  return errors;
};
const modes = (page: Page) =>
  page.evaluate(() =>
    globalThis.heard.flatMap((notice) => (notice.type === 'memory-mode' ? [notice.on] : [])),
  );

describe('unavailable IndexedDB', () => {
  test.each([
    ['is absent', () => Object.defineProperty(globalThis, 'indexedDB', { value: undefined })],
    [
      'throws',
      () =>
        Object.defineProperty(globalThis, 'indexedDB', {
          get: () => {
            throw new DOMException('denied', 'SecurityError');
          },
        }),
    ],
    [
      'never settles',
      () => {
        IDBFactory.prototype.open = () => new EventTarget() as IDBOpenDBRequest;
      },
    ],
  ])('case 41: if it %s, the client runs in memory mode and reports it', async (_, break_) => {
    await context.addInitScript(break_);
    const page = await open(QUIET);
    const errors = getErrors(page);
    const events = await capture(page, 3);
    expect(await modes(page)).toEqual([true]);
    await flush(page);
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
    expect(await diagnose(page)).toMatchObject({ memoryMode: true, captured: 3, delivered: 3 });
    expect(errors).toEqual([]);
  });

  test('case 41: a page in memory mode sends rejected and newer events on exit', async () => {
    await context.addInitScript(() => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }));
    const page = await open(QUIET);
    service.fail({ type: 'status', status: 503 });
    await capture(page, 2, 'click', 'refused');
    await flush(page);
    await capture(page, 2, 'click', 'since');
    await page.goto(`${pages.origin}/bare`);
    await expect
      .poll(() => service.events.map(({ bannerId }) => bannerId).sort())
      .toEqual(['refused0', 'refused1', 'since0', 'since1']);
  });

  test('case 42: a transaction that another page blocks times out after ten seconds, and every event counts once', async () => {
    const page = await open(QUIET);
    const before = await capture(page, 2);
    const other = await context.newPage();
    await other.goto(`${pages.origin}/bare`);
    await other.evaluate(
      (name) =>
        new Promise<void>((resolve) => {
          const opening = indexedDB.open(name);
          opening.onsuccess = () => {
            const store = opening.result.transaction('records', 'readwrite').objectStore('records');
            const hold = () => {
              store.get('').onsuccess = hold;
              resolve();
            };
            hold();
          };
        }),
      logName(api.origin, 'app-1'),
    );
    const since = await capture(page, 2, 'click', 'since');
    expect(await modes(page)).toEqual([true]);
    await flush(page);
    // The first ones may have left at the first pause, if the other page was slow.
    const sent = service.events.filter(({ bannerId }) => bannerId.startsWith('since'));
    assertDeliveredExactlyOnce(sent, since as BannerEvent[]);
    await other.close();
    // A heartbeat: without one, the client retries only every 30 seconds.
    const isInMemory = () => {
      dispatchEvent(new Event('online'));
      return globalThis.delivery.diagnostics().then(({ memoryMode }) => memoryMode);
    };
    await expect.poll(() => page.evaluate(isInMemory)).toBe(false);
    await flush(page);
    await expect.poll(() => service.events.length).toBe(4);
    assertDeliveredExactlyOnce(service.events, [...before, ...since] as BannerEvent[]);
  });

  test('case 41: waits two seconds for an open that never settles', async () => {
    // Timers of one page run in the order of their due time, even if a busy machine runs them late. The client waits twice,
    // as do the checks: if the page stalls in the first wait, the second one starts late for both.
    await context.addInitScript(() => {
      const look = () => globalThis.gaveUp.push(globalThis.heard.some(({ type }) => type === 'memory-mode'));
      IDBFactory.prototype.open = () => {
        if (!globalThis.gaveUp) for (const ms of [900, 1_500]) setTimeout(() => setTimeout(look, ms), 1_000);
        globalThis.gaveUp ??= [];
        return new EventTarget() as IDBOpenDBRequest;
      };
    });
    const page = await open(QUIET);
    await capture(page, 1);
    await expect.poll(() => page.evaluate(() => globalThis.gaveUp)).toEqual([false, true]);
  });

  test('case 41: does not lose events during the return from memory mode if a slow open settles late', async () => {
    await context.addInitScript(() => {
      const { open } = IDBFactory.prototype;
      // When the test requests it, and at once on the next page.
      const allowed = localStorage.getItem('open')
        ? Promise.resolve()
        : new Promise((resolve) => addEventListener('open', resolve));
      IDBFactory.prototype.open = function slow(this: IDBFactory, ...parameters) {
        const request = new EventTarget() as unknown as Record<string, unknown>;
        void allowed.then(() => {
          const real = open.apply(this, parameters);
          for (const name of ['onupgradeneeded', 'onsuccess', 'onerror', 'onblocked'] as const) {
            real[name] = (event: Event) => {
              request.result = real.result;
              (request[name] as ((event: Event) => void) | undefined)?.(event);
            };
          }
        });
        return request as unknown as IDBOpenDBRequest;
      };
    });
    const page = await open(QUIET);
    const events = await capture(page, 3);
    expect(await diagnose(page)).toMatchObject({ memoryMode: true, captured: 3 });
    await page.evaluate(() => {
      localStorage.setItem('open', 'yes');
      dispatchEvent(new Event('open'));
    });
    await expect.poll(() => modes(page)).toEqual([true, false]);
    await page.reload();
    const next = await open(QUIET);
    await untilDiagnostics(next, { memoryMode: false, captured: 3 });
    await flush(next);
    await expect.poll(() => service.events.length).toBe(3);
    assertDeliveredExactlyOnce(service.events, events as BannerEvent[]);
  });
});

describe('IndexedDB that fails later', () => {
  test('case 42: reopens a closed connection without losing events', async () => {
    await context.addInitScript(() => {
      const { transaction } = IDBDatabase.prototype;
      let broken = 0;
      Object.assign(globalThis, {
        breakConnection: () => {
          broken += 1;
        },
      });
      // As in WebKit after a time in the background: the handle exists, and every transaction fails.
      IDBDatabase.prototype.transaction = function failing(this: IDBDatabase, ...parameters) {
        if (broken > 0) {
          broken -= 1;
          this.close();
        }
        return transaction.apply(this, parameters);
      };
    });
    const page = await open(QUIET);
    await capture(page, 2);
    for (let round = 0; round < 5; round += 1) {
      await page.evaluate(() => (globalThis as unknown as { breakConnection(): void }).breakConnection());
      expect((await capture(page, 1, 'click', `r${round}-`))[0]).not.toBeNull();
    }
    expect(await modes(page)).toEqual([]);
    const diagnostics = await diagnose(page);
    assertConserved(diagnostics);
    expect(diagnostics).toMatchObject({ captured: 7, memoryMode: false });
    await flush(page);
    await untilDiagnostics(page, { delivered: 7 });
    expect(service.events).toHaveLength(7);
  });

  test('case 43: at the quota evicts impressions and keeps clicks, without an exception in the page', async () => {
    const page = await context.newPage();
    await page.goto(`${pages.origin}/bare`);
    const session = await context.newCDPSession(page);
    // Before the first byte is stored: later, the engine still grants what it promised under the old quota.
    await session.send('Storage.overrideQuotaForOrigin', { origin: pages.origin, quotaSize: 600_000 });
    await page.goto(deliveryUrl(pages.origin, api.origin, { maxDelayMs: 60_000, maxBatchSize: 5_000 }));
    await ready(page);
    const errors = getErrors(page);
    // Sending would free space.
    service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    // If the disk is too full even for a removal, which also writes, events continue in memory and none is dropped.
    const full = async () => (await diagnose(page)).evicted > 0 || (await modes(page)).includes(true);
    // The number of events that fit depends on the engine; then some rounds on a full disk.
    // Fifty rounds are below the client's own caps: a drop before that is caused by the quota.
    let filled = 0;
    for (let round = 0; filled < 5; round += 1) {
      expect(round, 'rounds of 100 events, of which 600 kB hold some 20').toBeLessThan(50);
      const events = await capture(page, 100, round % 4 ? 'impression' : 'click', 'banner-'.repeat(20));
      expect(events.every((event) => event !== null)).toBe(true);
      if (await full()) filled += 1;
    }
    expect(errors).toEqual([]);
    assertConserved(await diagnose(page));
    const dropped = await page.evaluate(() =>
      globalThis.heard.flatMap((notice) => (notice.type === 'dropped' ? [notice.event.type] : [])),
    );
    // Clicks are dropped only if no impression is left to drop, and there were three of those for each click.
    expect(dropped[0] ?? 'impression').toBe('impression');
    const clicks = dropped.filter((type) => type === 'click').length;
    expect(clicks).toBeLessThan(Math.max(1, dropped.length / 2));
  });

  test('case 44: lets another tab delete or upgrade the database without a hanging open', async () => {
    const page = await open(QUIET);
    await capture(page, 2);
    const outcome = await page.evaluate(
      (name) =>
        new Promise((resolve) => {
          const request = indexedDB.deleteDatabase(name);
          request.onsuccess = () => resolve('deleted');
          request.onblocked = () => resolve('blocked');
        }),
      logName(api.origin, 'app-1'),
    );
    expect(outcome).toBe('deleted');
    expect(await diagnose(page)).toMatchObject({ captured: 0 });
    const next = await open(QUIET);
    expect((await capture(next, 1))[0]).not.toBeNull();
  });
});

describe('ten thousand events', () => {
  test('case 6: are captured in one task and stored in order, in slices, while the page stays responsive', async () => {
    const page = await open(QUIET);
    const { inTask, turns, times } = await page.evaluate(async () => {
      // Number of records that the page writes in one task.
      const { put } = IDBObjectStore.prototype;
      let puts = 0;
      IDBObjectStore.prototype.put = function counted(...parameters) {
        puts += 1;
        return put.apply(this, parameters);
      };
      const putsByTurn: number[] = [];
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        putsByTurn.push(puts);
        puts = 0;
        port2.postMessage(null);
      };
      const calls = Array.from({ length: 10_000 }, (_, i) =>
        globalThis.delivery.capture({
          type: 'impression',
          bannerId: `b${i % 20}`,
          placementId: 'p',
          userId: 'u1',
        }),
      );
      const putsInTask = puts;
      port2.postMessage(null);
      const events = await Promise.all(calls);
      port1.close();
      return {
        inTask: putsInTask,
        turns: putsByTurn.filter((count) => count > 0),
        times: events.map((event) => event?.time ?? -1),
      };
    });
    expect(inTask).toBe(0);
    // Two hundred events and their counters are one slice; a few may overlap between two reads.
    expect(Math.max(...turns)).toBeLessThanOrEqual(4 * 201);
    expect(turns.length).toBeGreaterThan(12);
    expect(times).toHaveLength(10_000);
    expect(times.every((time, i) => time > 0 && (i === 0 || time >= times[i - 1]!))).toBe(true);
    expect(await diagnose(page)).toMatchObject({ captured: 10_000, memoryMode: false });
  });
});
