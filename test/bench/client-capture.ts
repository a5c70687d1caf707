import type { Page } from 'playwright-core';
import { launchBrowser } from '../helpers/browser.ts';
import { startCollector } from './browser/collector.ts';
import { median, milliseconds, spread, times } from './browser/figures.ts';
import { openSubject, startSubjectPages } from './browser/subject-page.ts';
import { getTitle, installPeers, SUBJECTS, type Subject } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

const ALONE = 200;
/** Events that each subject captures in one task; ours also captures 10,000. */
const TOGETHER = 1_000;
const MANY = 10_000;
const DURABLE_LIMIT_MS = 3_000;
/** Repetitions, each in a new page, because other load can disturb a single one. */
const BURSTS = 5;

interface PageSubject {
  capture(marker: string): unknown;
  isDurable?: 'promise';
}

/** Main-thread cost of calls that have a task of their own, in milliseconds each. */
const alone = (page: Page, count: number): Promise<number[]> =>
  page.evaluate(async (calls) => {
    const { subject } = globalThis as unknown as { subject: PageSubject };
    const costs: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      await new Promise((resolve) => setTimeout(resolve));
      const before = performance.now();
      subject.capture(`evt-${call}-end`);
      costs.push(performance.now() - before);
    }
    return costs;
  }, count);

interface Burst {
  perCall: number;
  /** Longest block of the main thread, this task included. */
  block: number;
  /** Milliseconds until all were on disk; `Infinity` after the timeout. */
  durable: number;
}

const burst = (page: Page, count: number, limitMs: number): Promise<Burst> =>
  page.evaluate(
    async ([calls, limit]) => {
      const { subject } = globalThis as unknown as { subject: PageSubject };
      // A message to itself in each tick shows when the event loop was blocked.
      const { port1, port2 } = new MessageChannel();
      let last = performance.now();
      let block = 0;
      let isOver = false;
      port1.onmessage = () => {
        const now = performance.now();
        block = Math.max(block, now - last);
        last = now;
        if (!isOver) port2.postMessage(null);
      };
      port2.postMessage(null);
      await new Promise((resolve) => setTimeout(resolve, 50));
      block = 0;
      const promises: unknown[] = [];
      const before = performance.now();
      for (let call = 0; call < calls; call += 1) promises.push(subject.capture(`evt-${500_000 + call}-end`));
      const perCall = (performance.now() - before) / calls;
      const isStored = () =>
        Object.values({ ...localStorage }).some((text) => text.includes(`evt-${500_000 + calls - 1}-end`));
      let durable = Number.POSITIVE_INFINITY;
      if (subject.isDurable) {
        // In a separate task, because awaiting 10,000 promises is the bench's own work.
        await new Promise((resolve) => setTimeout(resolve));
        await Promise.all(promises);
        durable = performance.now() - before;
      } else {
        while (durable === Number.POSITIVE_INFINITY && performance.now() - before < limit) {
          if (isStored()) durable = performance.now() - before;
          else await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
      isOver = true;
      return { perCall, block, durable };
    },
    [count, limitMs] as const,
  );

const getRows = (what: string, bursts: Burst[], isPromised: boolean): Row[] => {
  const row = (part: string, values: number[], target: string): Row => ({
    what: `${what}, ${part}`,
    figure: values.includes(Number.POSITIVE_INFINITY)
      ? `not within ${DURABLE_LIMIT_MS} ms`
      : milliseconds(median(values)),
    spread: spread(values, milliseconds),
    ...(isPromised && { target }),
  });
  const of = (part: keyof Burst) => bursts.map((each) => each[part]);
  return [
    row('each', of('perCall'), '≤ 5 µs'),
    row('longest block', of('block'), '≤ 50 ms'),
    row('all durable after', of('durable'), '≤ 2,000 ms'),
  ];
};

/** Floor: one durable IndexedDB write per event. */
const FLOOR: Subject = {
  name: 'Bare put',
  npm: 'idb-keyval',
  page: 'test/bench/peers/pages/bare-put.js',
  code: '',
};

/** Main-thread cost of captures, and time until they are durable. */
const capture: Bench = {
  name: 'client-capture',
  async run() {
    await installPeers();
    const collector = await startCollector();
    const subjects = [FLOOR, ...SUBJECTS];
    const pages = await startSubjectPages(subjects, subjects.length);
    const browser = await launchBrowser();
    const rows: Row[] = [];
    let floor = Number.NaN;
    try {
      for (const [at, subject] of subjects.entries()) {
        const ours = subject.npm === undefined;
        const title = subject === FLOOR ? 'A bare idb-keyval put' : await getTitle(subject);
        const inFreshPage = async <T>(work: (page: Page) => Promise<T>): Promise<T> => {
          const context = await browser.newContext();
          const page = await context.newPage();
          await openSubject(page, pages.origins[at]!, subject, collector.url);
          const result = await work(page);
          await context.close();
          return result;
        };
        const single = await inFreshPage((page) => alone(page, ALONE));
        if (subject === FLOOR) floor = median(single);
        rows.push({
          what: `${title}: one call alone`,
          figure: milliseconds(median(single)),
          spread: spread(single, milliseconds),
          ...(subject !== FLOOR && { floor: milliseconds(floor), ratio: times(median(single) / floor) }),
          ...(ours && { target: '≤ 20 µs' }),
        });
        for (const count of ours ? [TOGETHER, MANY] : [TOGETHER]) {
          const bursts: Burst[] = [];
          while (bursts.length < BURSTS) {
            bursts.push(await inFreshPage((page) => burst(page, count, DURABLE_LIMIT_MS)));
          }
          rows.push(...getRows(`${title}: ${count} in one task`, bursts, count === MANY));
        }
      }
    } finally {
      await browser.close();
      await pages.close();
      await collector.close();
    }
    return rows;
  },
};

export const benches: Bench[] = [capture];
