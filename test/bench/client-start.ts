import { launchBrowser } from '../helpers/browser.ts';
import { startCollector } from './browser/collector.ts';
import { median, milliseconds, spread } from './browser/figures.ts';
import { getModule, startSubjectPages } from './browser/subject-page.ts';
import { getTitle, installPeers, SUBJECTS } from './browser/subjects.ts';
import type { Bench, Row } from './row.ts';

const RUNS = 15;

/** Startup cost: loading and evaluating the script, and the start call. */
const start: Bench = {
  name: 'client-start',
  async run() {
    await installPeers();
    const collector = await startCollector();
    const pages = await startSubjectPages(SUBJECTS, 1);
    const browser = await launchBrowser();
    const taken = new Map(
      SUBJECTS.map((subject) => [subject, { evaluate: [] as number[], start: [] as number[] }]),
    );
    try {
      for (let run = 0; run < RUNS; run += 1) {
        for (const subject of SUBJECTS) {
          const context = await browser.newContext();
          const page = await context.newPage();
          await page.goto(`${pages.origin}/${getModule(subject)}`);
          const { evaluate, started } = await page.evaluate(
            async ([path, url]) => {
              const [before, beforeStart] = [performance.now(), 0];
              const { start } = await import(path);
              const evaluated = performance.now();
              const begun = start({ origin: location.origin, collector: url });
              const after = performance.now();
              await begun;
              return { evaluate: evaluated - before, started: after - evaluated - beforeStart };
            },
            [`/placard/${getModule(subject)}.js`, collector.url] as const,
          );
          taken.get(subject)!.evaluate.push(evaluate);
          taken.get(subject)!.start.push(started);
          await context.close();
        }
      }
    } finally {
      await browser.close();
      await pages.close();
      await collector.close();
    }
    const rows: Row[] = [];
    for (const [subject, times] of taken) {
      const title = await getTitle(subject);
      rows.push(
        {
          what: `${title}: load and evaluate`,
          figure: milliseconds(median(times.evaluate)),
          spread: spread(times.evaluate, milliseconds),
        },
        {
          what: `${title}: start call`,
          figure: milliseconds(median(times.start)),
          spread: spread(times.start, milliseconds),
        },
      );
    }
    return rows;
  },
};

export const benches: Bench[] = [start];
