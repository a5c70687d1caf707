import { createFakeService, aBanner } from './src/testing/index.ts';
import { launchBrowser } from './test/helpers/browser.ts';
import { serveHandler } from './test/helpers/http-server.ts';
import { startPageServer } from './test/helpers/page-server.ts';
const fake = createFakeService();
fake.setBanner('hero', aBanner('hero', { title: 'Sale' }));
const api = await serveHandler(fake.handle);
const pages = await startPageServer({ entries: ['index'], minify: true } as never);
pages.set('/p', { html: '<div id="slot" style="height:200px;width:600px"></div>', script: `
 const { createPlacard } = await import('/placard/index.js');
 globalThis.placard = createPlacard({ endpoint: ${JSON.stringify(api.origin)}, apiKey: 'client-key', appId: 'shop', appVersion: '1', userId: 'kim' });
 placard.mount('hero', document.getElementById('slot'), (b, s) => { s.element.textContent = b.properties.title.value; });
` });
const browser = await launchBrowser();
const all: Record<string, number[]> = {};
for (let run = 0; run < 5; run++) {
  const context = await browser.newContext();
  for (const visit of [1, 2]) {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const events: any[] = [];
    cdp.on('Tracing.dataCollected', (e: any) => events.push(...e.value));
    const b = await browser.newBrowserCDPSession();
    b.on('Tracing.dataCollected', (e: any) => events.push(...e.value));
    await b.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['devtools.timeline', 'v8', 'disabled-by-default-v8.compile', 'toplevel'] } } as never);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await page.goto(pages.origin + '/p');
    await page.waitForTimeout(5000);
    const done = new Promise((r) => b.once('Tracing.tracingComplete', r));
    await b.send('Tracing.end');
    await done;
    // renderer main: the process with our script
    const mine = events.filter((e) => e.name === 'FunctionCall' && /placard|scripts/.test(e.args?.data?.url ?? ''));
    const [pid, tid] = [mine[0]?.pid, mine[0]?.tid];
    const main = events.filter((e) => e.pid === pid && e.tid === tid && e.ph === 'X');
    const tasks = main.filter((e) => e.name === 'RunTask' || e.name === 'ThreadControllerImpl::RunTask').filter((e) => (e.tdur ?? e.dur) > 30_000).sort((a, c) => a.ts - c.ts);
    for (const t of tasks) {
      const inside = main.filter((e) => e !== t && e.ts >= t.ts && e.ts + (e.dur ?? 0) <= t.ts + t.dur && (e.tdur ?? e.dur) > 4_000);
      console.log(run, visit, 'task', Math.round(t.dur / 1000), 'cpu', Math.round((t.tdur ?? 0) / 1000), inside.slice(0, 9).map((e) => `${e.name}:${Math.round((e.tdur ?? e.dur) / 1000)}${e.args?.data?.functionName ? ':' + e.args.data.functionName : ''}${e.args?.data?.url ? ':' + e.args.data.url.split('/').pop().slice(0, 16) : ''}${e.args?.fileName ? ':' + e.args.fileName.split('/').pop().slice(0,16) : ''}`).join(' | '));
    }
    await page.close();
  }
  await context.close();
}
await browser.close(); await pages.close(); await api.close();
