import type { Page } from 'playwright-core';
import { launchBrowser } from '../../helpers/browser.ts';
import { startPageServer } from '../../helpers/page-server.ts';
import { startCollector } from './collector.ts';

type Coverage = Awaited<ReturnType<Page['coverage']['stopJSCoverage']>>;

/** Sets the characters of a script that ran. An inner range follows the outer one that contains it. */
const markExecuted = (executed: Uint8Array, { functions }: Coverage[number]): void => {
  const ran = new Uint8Array(executed.length);
  const ranges = functions.flatMap(({ ranges: found }) => found);
  ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
  for (const { count, startOffset, endOffset } of ranges) ran.fill(Number(count > 0), startOffset, endOffset);
  for (const [at, isRun] of ran.entries()) executed[at] ||= isRun;
};

/** Returns the share of the minified scripts of two ordinary visits that runs in at least one of them, 0 to 1. */
export const measureExecutedShare = async (): Promise<number> => {
  const collector = await startCollector();
  const pages = await startPageServer({
    entries: [],
    modules: { visit: 'test/bench/peers/pages/visit.js' },
    pages: {
      '/': { html: '<div id="hero" style="width: 320px"></div><div id="side" style="width: 320px"></div>' },
    },
    minify: true,
  });
  const browser = await launchBrowser();
  const scripts = new Map<string, Uint8Array>();
  try {
    const context = await browser.newContext();
    for (const isFirst of [true, false]) {
      const page = await context.newPage();
      await page.goto(pages.origin);
      await page.coverage.startJSCoverage();
      await page.evaluate(
        async ([collectorUrl, first]) => {
          const path = '/placard/visit.js';
          const { visit } = await import(path);
          await visit({ collector: collectorUrl, isFirst: first });
        },
        [collector.url, isFirst] as const,
      );
      for (const entry of await page.coverage.stopJSCoverage()) {
        if (!entry.url.includes('/placard/')) continue;
        const name = new URL(entry.url).pathname;
        const executed = scripts.get(name) ?? new Uint8Array(entry.source!.length);
        markExecuted(executed, entry);
        scripts.set(name, executed);
      }
      await page.close();
    }
  } finally {
    await browser.close();
    await pages.close();
    await collector.close();
  }
  const all = [...scripts.values()].flatMap((executed) => [...executed]);
  return all.reduce((sum, isRun) => sum + isRun, 0) / all.length;
};
