import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Diagnostics } from '../../src/client/index.ts';
import {
  aBanner,
  assertConserved,
  assertDeliveredExactlyOnce,
  createFakeService,
  type FakeService,
} from '../../src/testing/index.ts';
import { ENGINES, type Engine, type EnginePage, until } from '../helpers/engines.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

/** The application under test: one slot, below as much space as the page's address says. */
const shop = (endpoint: string) => ({
  html: '<div id="space"></div><div id="slot" style="width: 600px; height: 200px"></div>',
  script: `
    import { createPlacard } from '/placard/index.js';
    const space = Number(new URLSearchParams(location.search).get('space'));
    document.getElementById('space').style.height = space + 'px';
    const notices = [];
    const placard = createPlacard({
      endpoint: ${JSON.stringify(endpoint)}, apiKey: 'client-key', appId: 'shop', appVersion: '1.0', userId: 'kim',
      // A batch whose page has gone is taken over when no answer can come any more: five seconds after this.
      delivery: { maxWaitMs: 100, timeoutMs: 2000 },
    });
    placard.subscribe((notice) => notices.push(notice));
    placard.mount('hero', document.getElementById('slot'), (banner, slot) => {
      const title = document.createElement('p');
      title.textContent = banner.properties.title.value;
      title.style.cssText = 'height: 150px; margin: 0';
      const dismiss = document.createElement('button');
      dismiss.textContent = 'Dismiss';
      dismiss.onclick = () => slot.dismiss();
      slot.element.append(title, dismiss);
      return () => slot.element.replaceChildren();
    });
    const count = async (type, times) => {
      const events = [];
      for (let at = 0; at < times; at += 1) events.push(placard.track(placard.banner('hero'), type));
      return Promise.all(events);
    };
    Object.assign(globalThis, { placard, notices, count, story: () => JSON.stringify(notices.slice(-12)) });
  `,
});

const PROPERTIES = {
  headline: 'Summer sale',
  body: 'Until Sunday',
  button_text: 'Look',
  link: 'https://shop.example/sale',
};

/** The templates on a page that allows no style, no string of script and no other origin than the service's. */
const strict = (endpoint: string) => ({
  headers: {
    'content-security-policy': `default-src 'none'; script-src 'self'; connect-src ${endpoint}; img-src https:; style-src 'none'; require-trusted-types-for 'script'`,
  },
  script: `
    import { createPlacard } from '/placard/index.js';
    import { card, hero, strip } from '/placard/templates.js';
    globalThis.violations = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      violations.push(violatedDirective + ' ' + blockedURI));
    globalThis.notices = [];
    const placard = createPlacard({
      endpoint: ${JSON.stringify(endpoint)}, apiKey: 'client-key', appId: 'strict', appVersion: '1', userId: 'kim',
    });
    placard.subscribe((notice) => notices.push(notice));
    for (const [name, hook] of Object.entries({ strip, card, promo: hero })) {
      const element = document.createElement('div');
      element.id = name;
      document.body.append(element);
      placard.mount(name, element, hook);
    }
  `,
});

const SETTLED = `await placard.flush();
  const { pending, inDoubt } = await placard.diagnostics();
  return pending + inDoubt === 0`;
const TITLE = `return document.querySelector('#slot p')?.textContent === 'Sale'`;
const notice = (type: string) => `return globalThis.notices?.some((notice) => notice.type === '${type}')`;
const tracked = (type: string) =>
  `return globalThis.notices?.filter((notice) => notice.type === 'tracked' && notice.event.type === '${type}').length`;

let pages: PageServer;
/** Each test has an origin, and with it a storage, of its own. */
let origins: string[];

beforeAll(async () => {
  pages = await startPageServer({
    entries: ['index', 'templates'],
    modules: { 'idb-store': 'src/client/platform/idb-store.ts' },
    origins: ENGINES.length * 7 + 1,
  });
  origins = [...pages.origins];
});
afterAll(() => pages?.close());

describe.each(ENGINES)('$name', (kind) => {
  if (kind.missing) {
    // The runner's short report leaves out what was skipped.
    console.log(`Engine skipped: ${kind.name}, ${kind.missing}`);
    it.skip(`is not here: ${kind.missing}`, () => undefined);
    return;
  }

  let engine: Engine;
  let fake: FakeService;
  let api: HttpServer;
  let opened: EnginePage[];

  beforeAll(async () => {
    engine = await kind.launch();
    console.log(`Engine under test: ${engine.version}`);
  });
  afterAll(async () => {
    await engine?.close();
  });
  beforeEach(async () => {
    fake = createFakeService({ banners: { hero: aBanner('hero', { title: 'Sale' }) } });
    api = await serveHandler(fake.handle);
    pages.set('/shop', shop(api.origin));
    opened = [];
    origins.shift();
  });
  afterEach(async () => {
    for (const page of opened) await page.close();
    await api.close();
  });

  const open = async (path = '/shop'): Promise<EnginePage> => {
    const page = await engine.newPage();
    opened.push(page);
    await page.goto(origins[0]! + path);
    return page;
  };

  it('keeps records in key order, in one transaction each, over a reload', async () => {
    pages.set('/store', {
      script: `import { createIdbStore } from '/placard/idb-store.js';
               globalThis.store = createIdbStore('engine-test');`,
    });
    const page = await open('/store');
    await until(page, 'return Boolean(globalThis.store)');
    const keys = await page.run(`
      await store.setMany([[[2, 'a'], 1], ['text', 2], [[1, 9], 3], [7, 4], [[1, 10], 5], [[1, 'x'], 6]]);
      await store.update([7], ([value]) => [['sum', value + 1], [7, undefined]]);
      return (await store.entries()).map(([key]) => key);`);
    expect(keys).toEqual(['sum', 'text', [1, 9], [1, 10], [1, 'x'], [2, 'a']]);
    await page.reload();
    await until(page, 'return Boolean(globalThis.store)');
    expect(await page.run(`return store.get('sum')`)).toBe(5);
    expect(await page.run(`return (await store.entries({ from: [1, 10], to: [1, 'x'] })).length`)).toBe(2);
  });

  it('paints the cached banner while the service is away', async () => {
    const page = await open();
    await until(page, TITLE);
    await until(page, notice('synced'));
    await api.stop();
    await page.reload();
    await until(page, TITLE);
    expect(await page.run(`return notices.find(({ type }) => type === 'shown')?.from`)).toBe('cache');
  });

  it('counts an impression after a second in view, and none before it is seen', async () => {
    const page = await open('/shop?space=3000');
    await until(page, TITLE);
    await page.run('await new Promise((resolve) => setTimeout(resolve, 1500))');
    expect(await page.run(tracked('impression'))).toBe(0);
    const started = Date.now();
    await page.run(`document.getElementById('slot').scrollIntoView()`);
    await until(page, tracked('impression'));
    expect(Date.now() - started).toBeGreaterThan(950);
    await page.run(`scrollTo(0, 0); await new Promise((resolve) => setTimeout(resolve, 200));
                    document.getElementById('slot').scrollIntoView();
                    await new Promise((resolve) => setTimeout(resolve, 1500))`);
    expect(await page.run(tracked('impression'))).toBe(1);
  });

  it('brings every event over reloads and an outage, each exactly once', async () => {
    const page = await open();
    await until(page, TITLE);
    await until(page, tracked('impression'));
    await api.stop();
    const captured = await page.run<never[]>(`return count('click', 20)`);
    await page.reload();
    await until(page, TITLE);
    captured.push(...(await page.run<never[]>(`return count('click', 20)`)));
    await page.reload();
    await until(page, TITLE);
    const { pending, inDoubt } = await page.run<Diagnostics>('return placard.diagnostics()');
    expect(pending + inDoubt).toBeGreaterThanOrEqual(40);
    await api.start();
    await page.run(`dispatchEvent(new Event('online'))`);
    await until(page, SETTLED, 30_000);
    const clicks = fake.events.filter(({ type }) => type === 'click');
    assertDeliveredExactlyOnce(clicks, captured);
    assertConserved(await page.run('return placard.diagnostics()'));
  });

  it('takes an event whose answer was lost as in doubt, and lets the service count it once', async () => {
    const page = await open();
    await until(page, TITLE);
    const hasClick = ({ body }: { body: unknown }) => JSON.stringify(body).includes('"click"');
    fake.fail({ type: 'drop', when: 'after' }, { when: hasClick });
    const captured = await page.run<never[]>(`return count('click', 3)`);
    await until(page, SETTLED, 30_000);
    const clicks = fake.events.filter(({ type }) => type === 'click');
    assertDeliveredExactlyOnce(clicks, captured);
    expect(Math.max(...clicks.map(({ copies }) => copies))).toBe(2);
  });

  it('hides a banner in every tab where one has dismissed it, and tells the service once', async () => {
    const first = await open();
    await until(first, TITLE);
    const second = await open();
    await until(second, TITLE);
    await second.click('#slot button');
    await until(second, `return !document.querySelector('#slot p')`);
    await until(first, `return !document.querySelector('#slot p')`);
    await second.run('return placard.flush()');
    await expect.poll(() => fake.events.filter(({ type }) => type === 'dismiss')).toHaveLength(1);
    await first.reload();
    await until(first, notice('synced'));
    expect(await first.run(`return document.querySelector('#slot p')`)).toBeNull();
  });

  it('case 67: draws every template on the strictest page without a violation', async () => {
    for (const name of ['strip', 'card', 'promo']) fake.setBanner(name, aBanner(name, PROPERTIES));
    pages.set('/strict', strict(api.origin));
    const page = await open('/strict');
    await until(page, `return globalThis.notices?.filter(({ type }) => type === 'shown').length === 3`);
    for (const name of ['strip', 'card', 'promo']) {
      const box = await page.run<{ text: string; height: number }>(`
        const place = document.getElementById('${name}');
        const text = (place.firstElementChild.shadowRoot ?? place).textContent;
        return { text, height: place.getBoundingClientRect().height };`);
      expect(box.text).toContain('Summer sale');
      expect(box.height).toBeGreaterThan(20);
    }
    expect(await page.run('return violations')).toEqual([]);
    expect(await page.run(`return notices.filter(({ type }) => type === 'failed')`)).toEqual([]);
  });
});
