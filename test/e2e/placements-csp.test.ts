import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Notice } from '../../src/client/index.ts';
import { buildBanner, createFakeService, type FakeService } from '../../src/testing/index.ts';
import { launchShell } from '../helpers/browser.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

let browser: Browser;
let pages: PageServer;
let service: FakeService;
let api: HttpServer;

beforeAll(async () => {
  [browser, pages] = await Promise.all([
    launchShell(),
    startPageServer({ entries: ['index', 'templates'], minify: true }),
  ]);
});
afterAll(async () => {
  await Promise.all([browser?.close(), pages?.close()]);
});
beforeEach(async () => {
  service = createFakeService();
  api = await serveHandler(service.handle);
});
afterEach(() => api.close());

/** The strictest policy that the client supports. */
const policy = () =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `connect-src ${api.origin}`,
    'img-src https:',
    "style-src 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');

const script = () => `
  import { createPlacard } from '/placard/index.js';
  import { card, hero, strip } from '/placard/templates.js';
  globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    violations.push([violatedDirective, blockedURI, sample].join(' ')));
  globalThis.notices = [];
  const placard = createPlacard({
    endpoint: '${api.origin}', apiKey: 'client-key', appId: crypto.randomUUID(), appVersion: '1', userId: 'u-1',
  });
  globalThis.placard = placard;
  placard.subscribe((notice) => notices.push(notice));
  for (const [name, hook] of Object.entries({ strip, card, hero })) {
    const element = document.createElement('div');
    element.id = name;
    document.querySelector('main').append(element);
    placard.mount(name, element, hook);
  }
`;

interface Watched {
  page: Page;
  /** Failures from every source: events, the console, errors, dialogs. */
  complaints: string[];
  /** Requests to any host outside the loopback interface. */
  strangers: string[];
}

const open = async (): Promise<Watched> => {
  pages.set('/strict', {
    html: '<main></main>',
    script: script(),
    headers: { 'content-security-policy': policy() },
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints: string[] = [];
  const strangers: string[] = [];
  page.on('console', (message) => {
    // The harness provides the icon. A relative image is on the page's own origin, and this page is not on https.
    if (
      ["'data:,'", `'${pages.origin}/`].some((own) => message.text().startsWith(`Loading the image ${own}`))
    )
      return;
    if (/Content Security Policy|TrustedHTML|TrustedScript|Refused/i.test(message.text()))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => {
      strangers.push(route.request().url());
      return route.fulfill({ contentType: 'image/png', body: PIXEL });
    },
  );
  await page.goto(`${pages.origin}/strict`);
  return { page, complaints, strangers };
};

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/eL9GtQAAAABJRU5ErkJggg==',
  'base64',
);

const hears = (page: Page, type: string) =>
  page.waitForFunction(
    (wanted) =>
      (globalThis as unknown as { notices?: Notice[] }).notices?.some((notice) => notice.type === wanted),
    type,
  );

const getViolations = async (page: Page): Promise<string[]> => {
  const all = await page.evaluate(() => (globalThis as unknown as { violations: string[] }).violations);
  return all.filter((violation) => !violation.startsWith(`img-src ${pages.origin}/`));
};

const TEMPLATES = ['strip', 'card', 'hero'];

const properties = {
  headline: 'Summer sale',
  body: 'Everything must go',
  button_text: 'See the offers',
  link: 'https://shop.example/sale',
  image: { type: 'image' as const, value: 'https://cdn.example/a.png' },
  image_alt: 'A beach',
};

test('case 67: renders, counts, clicks and dismisses every template under the strictest policy without a violation', async () => {
  for (const name of TEMPLATES)
    service.setBanner(name, buildBanner(name, { ...properties, dismissible: true }));
  const { page, complaints } = await open();
  for (const name of TEMPLATES) await page.locator(`#${name}`).getByText('Summer sale').waitFor();
  await hears(page, 'tracked');
  for (const name of TEMPLATES) {
    await page.locator(`#${name}`).getByRole('button', { name: 'Dismiss' }).click();
    await page.locator(`#${name} placard-frame`).waitFor({ state: 'detached' });
  }
  // A banner disappears at once; its dismissal is stored a moment later.
  await expect
    .poll(async () => {
      await page.evaluate(() =>
        (globalThis as unknown as { placard: { flush(): Promise<unknown> } }).placard.flush(),
      );
      return service.events.filter(({ type }) => type === 'dismiss').length;
    })
    .toBe(3);
  expect(await getViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

const HOSTILE: Record<string, string> = {
  'a script element': '<script>alert(1)</script>',
  'an image with a handler': '<img src=x onerror=alert(1)>',
  'an SVG with a handler': '<svg/onload=alert(1)>',
  'a javascript URL': 'javascript:alert(1)',
  'a javascript URL with a line break': 'java\nscript:alert(1)',
  'a data URL': 'data:text/html,<script>alert(1)</script>',
  'a file URL': 'file:///etc/passwd',
  'an attribute that breaks out': '" onmouseover="alert(1)" x="',
  'a style that breaks out': '</style><script>alert(1)</script>',
  'a CSS URL': 'url(https://evil.example/leak)',
  'right-to-left overrides': '\u202egnp.exe\u202c \u2066sale\u2069',
  'zero bytes and control characters': '\u0000\u0001\u0007\u001b[31m',
  'half an emoji': '\ud83d',
  'a megabyte of text': 'Sale '.repeat(200_000),
  'the name of a prototype': '__proto__',
  nothing: '',
};

test('hostile text in any property does not run a script, send a request or throw', async () => {
  let at = 0;
  for (const value of Object.values(HOSTILE)) {
    const id = `hostile-${at++}`;
    for (const name of TEMPLATES) {
      service.setBanner(
        name,
        buildBanner(
          name,
          {
            headline: value,
            body: value,
            button_text: value,
            dismiss_label: value,
            link: value,
            theme: value,
            image_alt: value,
            image: { type: 'image', value },
            ...JSON.parse('{"__proto__":{"type":"jsonobject","value":{"polluted":true}}}'),
          },
          { id },
        ),
      );
    }
    const { page, complaints, strangers } = await open();
    await hears(page, 'synced');
    expect(complaints).toEqual([]);
    expect(strangers).toEqual([]);
    expect(await getViolations(page)).toEqual([]);
    expect(
      await page.evaluate(() => ({}) as { polluted?: boolean }).then(({ polluted }) => polluted),
    ).toBeUndefined();
    expect(await page.locator('script').count()).toBe(1);
    await page.close();
  }
});

test('hostile values of any wire type do not affect the page or other placements', async () => {
  const values: unknown[] = [null, [], {}, { value: {} }, 1e308, -1, true, 'text', [[[[]]]]];
  service.setBanner('card', buildBanner('card', properties));
  for (const [at, value] of values.entries()) {
    const odd = Object.fromEntries(
      Object.keys(properties).flatMap((name) =>
        ['string', 'number', 'boolean', 'image', 'jsonobject', 'datetime', 'future'].map((type, i) => [
          `${name}${i || ''}`,
          { type, value },
        ]),
      ),
    );
    service.setBanner('strip', {
      ...buildBanner('strip', {}, { id: `odd-${at}` }),
      properties: odd as never,
    });
    const { page, complaints } = await open();
    await page.locator('#card').getByText('Summer sale').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  }
});
