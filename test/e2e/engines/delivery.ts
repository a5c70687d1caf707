import { expect } from 'vitest';
import type { BannerEvent, Diagnostics } from '../../../src/client/index.ts';
import { assertConserved, assertDeliveredExactlyOnce, type FakeService } from '../../../src/testing/index.ts';
import { type EnginePage, until } from '../../helpers/engines.ts';
import { heard, NO_TITLE, type Scenario, settle, TITLE, tracked, type World } from './scenario.ts';
import { shop } from './shop.ts';

const getClicks = (fake: FakeService) => fake.events.filter(({ type }) => type === 'click');
const click = (page: EnginePage, times: number) => page.run<BannerEvent[]>(`return count('click', ${times})`);
/** Events that the client keeps in memory, because the disk timed out, do not outlive the page. */
const onDisk = (page: EnginePage) => until(page, 'return !(await placard.diagnostics()).memoryMode');
const diagnose = (page: EnginePage) => page.run<Diagnostics>('return placard.diagnostics()');

/** Nothing is sent except on request or on page exit, and a batch of a closed page is soon taken over. */
const patient = ({ api, pages }: World): void =>
  pages.set('/patient', shop(api.origin, { options: 'delivery: { maxDelayMs: 60_000, timeoutMs: 2_000 },' }));

/** Captures events in a page that ends as `leave` says, and expects another page to deliver each once. */
const outlives = async (
  world: World,
  leave: (page: EnginePage) => Promise<unknown>,
  reloads = 0,
): Promise<void> => {
  patient(world);
  const page = await world.open('/patient');
  await until(page, heard('synced'));
  await world.api.stop();
  await onDisk(page);
  const captured = await click(page, 20);
  for (let reload = 0; reload < reloads; reload += 1) {
    await page.reload();
    await until(page, TITLE);
    await onDisk(page);
    captured.push(...(await click(page, 20)));
  }
  await leave(page);
  const next = await world.open('/patient');
  await until(next, TITLE);
  await onDisk(next);
  const { pending, inDoubt } = await diagnose(next);
  expect(pending + inDoubt).toBeGreaterThanOrEqual(captured.length);
  await world.api.start();
  // Each failure may be followed by one such heartbeat.
  await settle(next, `dispatchEvent(new Event('online'));`);
  assertDeliveredExactlyOnce(getClicks(world.fake), captured);
  assertConserved(await diagnose(next));
};

export const delivery: Scenario[] = [
  {
    name: 'delivers every event exactly once over reloads, an outage and a page that is closed at once',
    run: (world) => outlives(world, (page) => page.close(), 2),
  },
  {
    name: 'case 1: an event is durable when its promise resolves: the process of the page is killed',
    needs: 'killed',
    run: (world) => outlives(world, (page) => page.kill()),
  },
  {
    name: 'sends nothing while offline, and everything once when the network is back',
    needs: 'offline',
    async run({ fake, api, pages, open }) {
      // With `at-most-once`, a click that was sent while offline would not be sent again.
      pages.set(
        '/once',
        shop(api.origin, { options: `delivery: { guarantee: { click: 'at-most-once' } },` }),
      );
      const page = await open('/once');
      await until(page, heard('delivered'));
      let captured: BannerEvent[];
      await page.setOffline(true);
      try {
        // The driver may respond before the engine's network stack is updated.
        await until(page, `return !navigator.onLine && fetch('/anything').then(() => false, () => true)`);
        captured = await click(page, 5);
        expect(await page.run('return placard.flush()')).toEqual({ delivered: 0, pending: 5 });
        expect(getClicks(fake)).toEqual([]);
      } finally {
        await page.setOffline(false);
      }
      // The engine's own online state is enough.
      await until(
        page,
        `const { pending, inDoubt } = await placard.diagnostics(); return pending + inDoubt === 0`,
      );
      assertDeliveredExactlyOnce(getClicks(fake), captured);
    },
  },
  {
    name: 'keeps a click while the deferred chunk cannot be loaded, and delivers it once it can',
    async run({ fake, pages, open }) {
      const page = await open();
      await until(page, heard('delivered'));
      pages.refuse(/deferred-client/);
      try {
        await page.reload();
        await until(page, TITLE);
        await page.run(`globalThis.clicked = placard.track(placard.banner('hero'), 'click')`);
        // At least twice: it was requested again, and by now the engine knows that it cannot be loaded.
        await until(page, `return notices.filter(({ kind }) => kind === 'chunk-load').length > 1`);
      } finally {
        pages.refuse(null);
      }
      const event = await page.run<BannerEvent>('return clicked');
      await settle(page);
      assertDeliveredExactlyOnce(getClicks(fake), [event]);
    },
  },
  {
    name: 'reports once that the trouble chunk cannot be loaded',
    async run({ fake, pages, open }) {
      const page = await open();
      await until(page, TITLE);
      pages.refuse(/trouble/);
      fake.fail({ type: 'status', status: 503 }, { times: 1 });
      try {
        await click(page, 1);
        await until(page, `return notices.some(({ kind }) => kind === 'chunk-load')`);
        expect(await page.run(`return notices.filter(({ kind }) => kind === 'chunk-load').length`)).toBe(1);
      } finally {
        pages.refuse(null);
      }
    },
  },
  {
    name: 'treats an event without a response as in doubt, and the service counts it once',
    async run({ fake, open }) {
      const page = await open();
      await until(page, TITLE);
      const hasClick = ({ body }: { body: unknown }) => JSON.stringify(body).includes('"click"');
      fake.fail({ type: 'drop', when: 'after' }, { when: hasClick });
      const captured = await click(page, 3);
      await settle(page);
      assertDeliveredExactlyOnce(getClicks(fake), captured);
      expect(Math.max(...getClicks(fake).map(({ copies }) => copies))).toBeGreaterThanOrEqual(2);
    },
  },
  {
    name: 'case 9: confirms what the response does not name, and corrects and requeues what it skips',
    async run({ fake, api, pages, open }) {
      const options = `delivery: { maxDelayMs: 60_000 },
        onEventRejected: (event, { reason }) => {
          notices.push({ type: 'corrected', reason });
          return { ...event, time: event.time - 3_600_000 };
        },`;
      pages.set('/correcting', shop(api.origin, { options }));
      const page = await open('/correcting');
      // The first events leave early, so the impression is sent before the skipped ones.
      await until(page, heard('delivered'));
      fake.fail(
        { type: 'skip', indices: [1, 3], reason: 'no' },
        { path: '/v1/device-messaging/banners/track' },
      );
      const captured = await click(page, 5);
      await page.run('return placard.flush()');
      await settle(page);
      expect(await page.run(`return notices.filter(({ type }) => type === 'corrected')`)).toEqual([
        { type: 'corrected', reason: 'no' },
        { type: 'corrected', reason: 'no' },
      ]);
      const times = getClicks(fake).map(({ time }) => time);
      const wanted = captured.map(({ time }, i) => (i === 1 || i === 3 ? time - 3_600_000 : time));
      expect(times.toSorted()).toEqual(wanted.toSorted());
      assertConserved(await diagnose(page));
    },
  },
  {
    name: 'case 36: sends from one tab at a time, and each event once',
    async run({ fake, open, mostAtOnce }) {
      const tabs = [await open(), await open()];
      for (const tab of tabs) await until(tab, TITLE);
      fake.fail({ type: 'slow', delayMs: 50 }, { times: 4 });
      await Promise.all(tabs.map((tab) => click(tab, 60)));
      for (const tab of tabs) await settle(tab);
      // The service counts two clicks as one if two tabs capture them in the same millisecond. Each was sent once.
      expect(getClicks(fake).reduce((sum, { copies }) => sum + copies, 0)).toBe(120);
      assertConserved(await diagnose(tabs[0]!));
      expect(mostAtOnce()).toBe(1);
    },
  },
  {
    name: 'case 38: hides a dismissed banner in every tab, reports the dismissal once, and keeps the banner hidden',
    async run({ fake, open, expect }) {
      const first = await open();
      await until(first, TITLE);
      const second = await open();
      await until(second, TITLE);
      await second.click('#slot button');
      await until(second, NO_TITLE);
      await until(first, NO_TITLE);
      await second.run('return placard.flush()');
      await expect.poll(() => fake.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
      await first.reload();
      await until(first, heard('synced'));
      // Case 56: the service may send it for some more minutes.
      const third = await open();
      await until(third, heard('synced'));
      for (const tab of [first, third]) {
        expect(await tab.run(NO_TITLE)).toBe(true);
        expect(await tab.run(tracked('dismiss'))).toBe(0);
      }
    },
  },
];
