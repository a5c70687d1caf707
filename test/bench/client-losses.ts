import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../helpers/browser.ts';
import { crashRenderer } from '../helpers/lifecycle-browser.ts';
import { type Collector, getMarker, startCollector } from './browser/collector.ts';
import { openSubject, startSubjectPages } from './browser/subject-page.ts';
import { getTitle, installPeers, SUBJECTS, type Subject } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = 3;
const EVENTS = 20;
const TABS = 8;
const OUTAGE_MS = 3_000;
/** Longer than any subject's flush interval: without events for this long, none will come. */
const QUIET_MS = 20_000;
const LIMIT_MS = 90_000;

interface Scene {
  context: BrowserContext;
  collector: Collector;
  open(): Promise<Page>;
  /** Captures `count` events in sequence and awaits each call. */
  capture(page: Page, count: number): Promise<void>;
}

/** Leaves the page with `visibilitychange` and `pagehide`, which closing a tab through the driver need not fire. */
const leave = async (page: Page): Promise<void> => {
  await page.goto('about:blank');
  await page.close();
};

type Scenario = (scene: Scene) => Promise<void>;

const SCENARIOS: Record<string, Scenario> = {
  'renderer killed right after the call': async ({ open, capture }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await open();
      await capture(page, EVENTS);
      await crashRenderer(page);
      await page.close();
    }
  },
  'reload right after the call': async ({ open, capture }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await open();
      await capture(page, EVENTS);
      await page.reload();
      await leave(page);
    }
  },
  'service away over three visits': async ({ open, capture, collector }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await open();
      await collector.stop();
      await capture(page, EVENTS);
      await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
      await leave(page);
      await collector.start();
    }
  },
  'eight tabs at once': async ({ open, capture }) => {
    const pages = await Promise.all(Array.from({ length: TABS }, open));
    await Promise.all(pages.map((page) => capture(page, EVENTS)));
  },
};

const untilQuiet = async (collector: Collector, wanted: number): Promise<void> => {
  const end = performance.now() + LIMIT_MS;
  let [last, lastAt] = [-1, performance.now()];
  while (performance.now() < end) {
    const received = await collector.received();
    const seen = received + (await collector.repeats());
    if (seen !== last) [last, lastAt] = [seen, performance.now()];
    const isComplete = received >= wanted;
    if (performance.now() - lastAt > (isComplete ? QUIET_MS / 4 : QUIET_MS)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

const play = async (
  subject: Subject,
  origin: string,
  collector: Collector,
  scenario: Scenario,
): Promise<string> => {
  const browser = await launchBrowser();
  await collector.reset();
  let captured = 0;
  try {
    const context = await browser.newContext();
    const open = async () => {
      const page = await context.newPage();
      await openSubject(page, origin, subject, collector.url);
      return page;
    };
    const capture = async (page: Page, count: number) => {
      const markers = Array.from({ length: count }, (_, at) => getMarker(captured + at));
      captured += count;
      await page.evaluate(async (each) => {
        const { subject } = globalThis as unknown as { subject: { capture(marker: string): unknown } };
        for (const marker of each) await subject.capture(marker);
      }, markers);
    };
    await scenario({ context, collector, open, capture });
    // The visitor returns and acts again, because some subjects send leftovers only then.
    await capture(await open(), 1);
    await untilQuiet(collector, captured);
  } finally {
    await browser.close();
    await collector.start();
  }
  const lost = captured - (await collector.received());
  const twice = await collector.countedTwice();
  return `of ${captured}: ${lost} lost, ${twice} counted twice, ${await collector.repeats()} sent again`;
};

/** Events lost or duplicated after failures, counted by the receiver. Every subject runs with its defaults. */
const losses: Bench = {
  name: 'client-losses',
  async run() {
    await installPeers();
    const collector = await startCollector();
    const pages = await startSubjectPages(SUBJECTS, SUBJECTS.length);
    const rows: Row[] = [];
    try {
      for (const [name, scenario] of Object.entries(SCENARIOS)) {
        for (const [at, subject] of SUBJECTS.entries()) {
          const figure = await play(subject, pages.origins[at]!, collector, scenario);
          rows.push({
            what: `${name}: ${await getTitle(subject)}`,
            figure,
            ...(subject.npm === undefined && { target: '0 lost, 0 counted twice' }),
          });
        }
      }
    } finally {
      await pages.close();
      await collector.close();
    }
    return rows;
  },
};

export const benches: Bench[] = [losses];
