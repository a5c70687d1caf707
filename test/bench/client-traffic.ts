import { launchBrowser } from '../helpers/browser.ts';
import { type Collector, startCollector } from './browser/collector.ts';
import { bytes } from './browser/figures.ts';
import { openSubject, startSubjectPages } from './browser/subject-page.ts';
import { getTitle, installPeers, SUBJECTS } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

const EVENTS = 1_000;
const BURST = 10;
const PAUSE_MS = 20;
const LIMIT_MS = 60_000;

const untilAllCame = async (collector: Collector): Promise<void> => {
  const end = performance.now() + LIMIT_MS;
  while ((await collector.received()) < EVENTS && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Requests and bytes for 1,000 events of one user, captured over two seconds in bursts of ten. */
const traffic: Bench = {
  name: 'client-traffic',
  async run() {
    await installPeers();
    const collector = await startCollector();
    const pages = await startSubjectPages(SUBJECTS, SUBJECTS.length);
    const browser = await launchBrowser();
    const rows: Row[] = [];
    try {
      for (const [at, subject] of SUBJECTS.entries()) {
        await collector.reset();
        const context = await browser.newContext();
        const page = await context.newPage();
        await openSubject(page, pages.origins[at]!, subject, collector.url);
        await page.evaluate(
          async ([events, burst, pauseMs]) => {
            const { subject } = globalThis as unknown as {
              subject: { capture(marker: string): unknown; flush?(): unknown };
            };
            for (let sent = 0; sent < events; sent += burst) {
              for (let each = 0; each < burst; each += 1) subject.capture(`evt-${sent + each}-end`);
              await new Promise((resolve) => setTimeout(resolve, pauseMs));
            }
            await subject.flush?.();
          },
          [EVENTS, BURST, PAUSE_MS] as const,
        );
        await untilAllCame(collector);
        const came = await collector.received();
        rows.push({
          what: `${await getTitle(subject)}: requests, bodies, for ${EVENTS} events`,
          figure: `${collector.requests} requests, ${bytes(collector.bytes)}, ${came} arrived`,
          ...(subject.npm === undefined && { target: '≤ 20 requests' }),
        });
        await context.close();
      }
    } finally {
      await browser.close();
      await pages.close();
      await collector.close();
    }
    return rows;
  },
};

export const benches: Bench[] = [traffic];
