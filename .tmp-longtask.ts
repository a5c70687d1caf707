import { createFakeService, aBanner } from './src/testing/index.ts';
import { launchBrowser } from './test/helpers/browser.ts';
import { serveHandler } from './test/helpers/http-server.ts';
import { startPageServer } from './test/helpers/page-server.ts';
const fake = createFakeService();
fake.setBanner('hero', aBanner('hero', { title: 'Sale' }));
const api = await serveHandler(fake.handle);
const pages = await startPageServer({ entries: ['index'], minify: true } as never);
pages.set('/p', { html: '<div id="slot" style="height:200px;width:600px"></div>', script: `
 globalThis.tasks = []; new PerformanceObserver((l) => { for (const e of l.getEntries()) tasks.push([Math.round(e.startTime), Math.round(e.duration)]); }).observe({ type: 'longtask', buffered: true });
 const { createPlacard } = await import('/placard/index.js');
 globalThis.notices=[];
 globalThis.placard = createPlacard({ endpoint: ${JSON.stringify(api.origin)}, apiKey: 'client-key', appId: 'shop', appVersion: '1', userId: 'kim' });
 placard.subscribe((n) => notices.push([Math.round(performance.now()), n.type]));
 placard.mount('hero', document.getElementById('slot'), (b, s) => { s.element.textContent = b.properties.title.value; });
` });
const browser = await launchBrowser();
for (let run = 0; run < 3; run++) {
  const context = await browser.newContext();
  for (const visit of [1, 2]) {
    const page = await context.newPage();
    page.on('pageerror', (e) => console.log('ERR', e.message));
    const cdp = await context.newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: Number(process.env.RATE ?? 6) });
    await page.goto(pages.origin + '/p');
    await page.waitForTimeout(6000);
    console.log(run, visit, JSON.stringify(await page.evaluate(() => ({ tasks: (globalThis as any).tasks, notices: (globalThis as any).notices?.map((n: any) => n.join(':')).join(' ') }))));
    await page.close();
  }
  await context.close();
}
await browser.close(); await pages.close(); await api.close();
