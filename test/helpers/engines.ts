import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { launchBrowser } from './browser.ts';

/** A tab of any engine, with the few verbs that all three drivers have. */
export interface EnginePage {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs the body of an async function in the page and answers what it returns, as JSON. */
  run<T>(body: string): Promise<T>;
  /** A real click, as a person's, at the middle of the first element that matches. */
  click(selector: string): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  /** `Chromium 156.0`, for instance. */
  version: string;
  newPage(): Promise<EnginePage>;
  close(): Promise<void>;
}

export interface EngineKind {
  name: 'Chromium' | 'Firefox' | 'WebKitGTK';
  /** Why this machine cannot run it, or `undefined`. */
  missing?: string;
  launch(): Promise<Engine>;
}

const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

const POLL_MS = 50;

/** Asks the page again and again until the body answers something true; rejects after `timeoutMs`. */
export const until = async <T>(page: EnginePage, body: string, timeoutMs = 10_000): Promise<T> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await page.run<T>(body);
    if (value) return value;
    if (performance.now() > end) {
      throw new Error(
        `Not within ${timeoutMs} ms: ${body}\n${await page.run<string>('return globalThis.story?.() ?? ""')}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
};

const asFunction = (body: string) => `(async () => { ${body} })()`;

const chromium: EngineKind = {
  name: 'Chromium',
  async launch() {
    const browser = await launchBrowser();
    const context = await browser.newContext();
    return {
      version: `Chromium ${browser.version()}`,
      async newPage() {
        const page = await context.newPage();
        return {
          goto: async (url) => void (await page.goto(url)),
          reload: async () => void (await page.reload()),
          run: (body) => page.evaluate(asFunction(body)) as Promise<never>,
          click: (selector) => page.locator(selector).first().click(),
          close: () => page.close(),
        };
      },
      close: () => browser.close(),
    };
  },
};

const firefoxPath = inPath('firefox-esr') ?? inPath('firefox');

const firefox: EngineKind = {
  name: 'Firefox',
  ...(firefoxPath === undefined && { missing: 'no firefox-esr or firefox in the PATH' }),
  async launch() {
    const { default: puppeteer } = await import('puppeteer-core');
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: firefoxPath!,
      headless: true,
      extraPrefsFirefox: {
        'network.captive-portal-service.enabled': false,
        'browser.safebrowsing.update.enabled': false,
      },
    });
    return {
      version: (await browser.version()).replace('/', ' '),
      async newPage() {
        const page = await browser.newPage();
        return {
          goto: async (url) => void (await page.goto(url)),
          reload: async () => void (await page.reload()),
          run: (body) => page.evaluate(asFunction(body)) as Promise<never>,
          click: (selector) => page.click(selector),
          close: () => page.close(),
        };
      },
      close: () => browser.close(),
    };
  },
};

const MINI_BROWSERS = ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].flatMap((version) =>
  ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/libexec'].map((folder) =>
    join(folder, version, 'MiniBrowser'),
  ),
);
const miniBrowser = MINI_BROWSERS.find((path) => existsSync(path));
const webkitDriver = inPath('WebKitWebDriver');
const xvfb = inPath('Xvfb');

const webkitMissing = (): string | undefined => {
  if (webkitDriver === undefined) return 'no WebKitWebDriver in the PATH';
  if (miniBrowser === undefined) return 'no MiniBrowser beside WebKitGTK';
  return process.env['DISPLAY'] || xvfb ? undefined : 'no display and no Xvfb';
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

const end = async (child: ChildProcess | undefined): Promise<void> => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill();
  await gone;
};

/** A display that nobody sees, where the machine has none. Xvfb chooses a free number and says it. */
const startDisplay = async (): Promise<{ display: string; child?: ChildProcess }> => {
  const own = process.env['DISPLAY'];
  if (own) return { display: own };
  const child = spawn(xvfb!, ['-displayfd', '1', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout }))
    return { display: `:${line.trim()}`, child };
  throw new Error('Xvfb ended before it had a display');
};

const webkit: EngineKind = {
  name: 'WebKitGTK',
  ...(webkitMissing() !== undefined && { missing: webkitMissing()! }),
  async launch() {
    const { Builder, By, Capabilities } = await import('selenium-webdriver');
    const { display, child: server } = await startDisplay();
    const port = await freePort();
    const driverProcess = spawn(webkitDriver!, [`--port=${port}`], {
      stdio: 'ignore',
      env: {
        ...process.env,
        DISPLAY: display,
        GDK_BACKEND: 'x11',
        // Root has no sandbox here, and a machine without a GPU must not look for one.
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
        WEBKIT_DISABLE_COMPOSITING_MODE: '1',
        LIBGL_ALWAYS_SOFTWARE: '1',
      },
    });
    const driver = await new Builder()
      .usingServer(`http://127.0.0.1:${port}`)
      .withCapabilities(
        new Capabilities({
          browserName: 'MiniBrowser',
          'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] },
        }),
      )
      .build();
    await driver.manage().setTimeouts({ script: 30_000 });
    const version = (await driver.getCapabilities()).getBrowserVersion();
    // Never closed: the browser ends with its last window.
    const base = await driver.getWindowHandle();
    // The driver has one current window: verbs of two pages must not cross.
    let queue: Promise<unknown> = Promise.resolve();
    const inWindow = <T>(handle: string, work: () => Promise<T>): Promise<T> => {
      const turn = queue.then(async () => {
        await driver.switchTo().window(handle);
        return work();
      });
      queue = turn.catch(() => undefined);
      return turn;
    };
    return {
      version: `WebKitGTK ${version}`,
      async newPage() {
        // A window of its own: a tab would open behind the others and stay hidden.
        const handle = await inWindow(base, async () => {
          await driver.switchTo().newWindow('window');
          return driver.getWindowHandle();
        });
        return {
          goto: (url) => inWindow(handle, () => driver.get(url)),
          reload: () => inWindow(handle, () => driver.navigate().refresh()),
          run: <T>(body: string) =>
            inWindow(handle, async () => {
              const outcome = await driver.executeAsyncScript<{ value: T } | { error: string }>(
                `const done = arguments[0]; ${asFunction(body)}.then((value) => done({ value }), (error) => done({ error: String(error) }));`,
              );
              if ('error' in outcome) throw new Error(outcome.error);
              return outcome.value;
            }),
          click: (selector) => inWindow(handle, () => driver.findElement(By.css(selector)).click()),
          close: () => inWindow(handle, () => driver.close()),
        };
      },
      async close() {
        // A driver that has ended with its last window cannot be asked to quit.
        await driver.quit().catch(() => undefined);
        await end(driverProcess);
        await end(server);
      },
    };
  },
};

/** Chromium is always there; the others where the machine has them. */
export const ENGINES: EngineKind[] = [chromium, firefox, webkit];
