import type { BrowserContext } from 'playwright-core';
import { launchBrowser } from '../helpers/browser.ts';
import { startPageServer } from '../helpers/page-server.ts';
import { startCollector } from './browser/collector.ts';
import { median, milliseconds, spread, times } from './browser/figures.ts';
import type { Bench } from './row.ts';

const RUNS = 31;
const SLOT = '<div id="slot" style="width: 320px; height: 100px"></div>';

/** First paint of a page that holds only the banner, in milliseconds since navigation start. */
const firstPaint = async (context: BrowserContext, url: string): Promise<number> => {
  const page = await context.newPage();
  await page.goto(url);
  const time = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const [entry] = list.getEntriesByName('first-contentful-paint');
          if (entry) resolve(entry.startTime);
        });
        observer.observe({ type: 'paint', buffered: true });
      }),
  );
  await page.close();
  return time;
};

/** Time to paint a cached banner. Floor: a page that reads one idb-keyval entry and paints it. */
const paint: Bench = {
  name: 'client-paint',
  async run() {
    const collector = await startCollector();
    const script = (module: string) =>
      `import { start } from '/placard/${module}.js'; start({ origin: location.origin, collector: ${JSON.stringify(collector.url)} });`;
    const pages = await startPageServer({
      entries: [],
      modules: { placard: 'test/bench/peers/pages/placard.js', bare: 'test/bench/peers/pages/bare-paint.js' },
      pages: {
        '/placard': { html: SLOT, script: script('placard') },
        '/bare': { html: SLOT, script: script('bare') },
      },
      minify: true,
    });
    const browser = await launchBrowser();
    const ours: number[] = [];
    const bare: number[] = [];
    try {
      const context = await browser.newContext();
      // The first visits fill the stores.
      const warm = await context.newPage();
      for (const path of ['/bare', '/placard']) {
        await warm.goto(pages.origin + path);
        await warm.waitForFunction(() => document.getElementById('slot')?.textContent);
      }
      await warm.close();
      for (let run = 0; run < RUNS; run += 1) {
        bare.push(await firstPaint(context, `${pages.origin}/bare`));
        ours.push(await firstPaint(context, `${pages.origin}/placard`));
      }
    } finally {
      await browser.close();
      await pages.close();
      await collector.close();
    }
    return [
      {
        what: 'cached banner painted, since the navigation began',
        figure: milliseconds(median(ours)),
        floor: `${milliseconds(median(bare))} (bare page, one idb-keyval entry)`,
        ratio: times(median(ours) / median(bare)),
        spread: `${spread(ours, milliseconds)}, floor ${spread(bare, milliseconds)}`,
        target: '≤ 1.25 ×',
      },
    ];
  },
};

export const benches: Bench[] = [paint];
