import { aBanner, createFakeService } from '../src/testing/index.ts';
import { launchBrowser } from './helpers/browser.ts';
import { serveHandler } from './helpers/http-server.ts';
import { startPageServer } from './helpers/page-server.ts';

const fake = createFakeService();
fake.setBanner('hero', aBanner('hero', { title: 'Sale' }));
const api = await serveHandler(fake.handle);
const pages = await startPageServer({ entries: ['index'], minify: true } as never);
pages.set('/p', {
  html: '<div id="slot" style="height:200px;width:600px"></div>',
  script: `
 globalThis.tasks = []; new PerformanceObserver((l) => { for (const e of l.getEntries()) tasks.push([Math.round(e.startTime), Math.round(e.duration)]); }).observe({ type: 'longtask', buffered: true });
 const { createPlacard } = await import('/placard/index.js');
 performance.mark('begin');
 globalThis.notices=[];
 globalThis.placard = createPlacard({ endpoint: ${JSON.stringify(api.origin)}, apiKey: 'client-key', appId: 'shop', appVersion: '1', userId: 'kim' });
 placard.subscribe((n) => notices.push([Math.round(performance.now()), n.type]));
 placard.mount('hero', document.getElementById('slot'), (b, s) => { s.element.textContent = b.properties.title.value; });
`,
});
const browser = await launchBrowser();
for (let run = 0; run < 4; run++) {
  const context = await browser.newContext();
  for (const visit of [1, 2]) {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await cdp.send('Profiler.enable');
    await page.goto(pages.origin + '/p');
    await page.waitForFunction(
      () => (globalThis as any).notices?.some((n: any) => n[1] === 'tracked'),
      undefined,
      { timeout: 20000 },
    );
    await page.waitForTimeout(500);
    console.log(
      run,
      visit,
      JSON.stringify(
        await page.evaluate(() => ({
          tasks: (globalThis as any).tasks,
          notices: (globalThis as any).notices.map((n: any) => n.join(':')).join(' '),
        })),
      ),
    );
    await page.close();
  }
  await context.close();
}
await browser.close();
await pages.close();
await api.close();
