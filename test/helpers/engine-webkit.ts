import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asFunction, type EngineKind } from './engines.ts';
import { freePort } from './free-port.ts';
import { inPath } from './machine.ts';
import { patience } from './patience.ts';

const MINI_BROWSERS = ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].flatMap((version) =>
  ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/libexec'].map((folder) =>
    join(folder, version, 'MiniBrowser'),
  ),
);
const miniBrowser = MINI_BROWSERS.find((path) => existsSync(path));
const webkitDriver = inPath('WebKitWebDriver');
const xvfb = inPath('Xvfb');

const whyMissing = (): string | undefined => {
  if (webkitDriver === undefined) return 'apt-get install webkit2gtk-driver';
  if (miniBrowser === undefined) return 'apt-get install webkit2gtk-driver, which has MiniBrowser';
  return process.env['DISPLAY'] || xvfb ? undefined : 'apt-get install xvfb';
};

/** Resolves when something listens on the port, which the driver does not report. */
const untilListening = async (port: number, child: ChildProcess): Promise<void> => {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`WebKitWebDriver ended with code ${child.exitCode}`);
    const socket = connect({ port, host: '127.0.0.1' });
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
};

const end = async (child: ChildProcess | undefined): Promise<void> => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill();
  await gone;
};

/** Starts Xvfb if the machine has no display. Xvfb chooses and prints a free number. */
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

const missing = whyMissing();

export const webkit: EngineKind = {
  name: 'WebKitGTK',
  ...(missing !== undefined && { missing }),
  cannot: {
    offline: 'its driver has no command for it',
    killed: 'its driver ends the whole session with the process of one page',
  },
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
        // No sandbox as root, and no GPU.
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
        WEBKIT_DISABLE_COMPOSITING_MODE: '1',
        LIBGL_ALWAYS_SOFTWARE: '1',
      },
    });
    await untilListening(port, driverProcess);
    const driver = await new Builder()
      .usingServer(`http://127.0.0.1:${port}`)
      .withCapabilities(
        new Capabilities({
          browserName: 'MiniBrowser',
          'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] },
        }),
      )
      .build();
    await driver.manage().setTimeouts({ script: patience(30_000) });
    const version = (await driver.getCapabilities()).getBrowserVersion();
    // Stays open, because the browser exits with its last window.
    const base = await driver.getWindowHandle();
    // The driver has one current window, so commands of two pages must not interleave.
    let queue: Promise<unknown> = Promise.resolve();
    const inWindow = <T>(handle: string, work: () => Promise<T>): Promise<T> => {
      const turn = queue.then(async () => {
        await driver.switchTo().window(handle);
        return work();
      });
      queue = turn.catch(() => undefined);
      return turn;
    };
    /** On a busy machine the driver responds before the new page has run its scripts. */
    const loading = async (navigate: () => Promise<void>): Promise<void> => {
      const getState = () =>
        driver.executeScript<[number, string]>('return [performance.timeOrigin, document.readyState]');
      const [former] = await getState();
      await navigate();
      await driver.wait(async () => {
        // The document is being replaced.
        const [origin, state] = await getState().catch(() => [former, '']);
        return origin !== former && state === 'complete';
      }, patience(30_000));
    };
    return {
      version: `WebKitGTK ${version}`,
      async newPage() {
        // In its own window, because a tab opens in the background.
        const handle = await inWindow(base, async () => {
          await driver.switchTo().newWindow('window');
          return driver.getWindowHandle();
        });
        return {
          goto: (url) => inWindow(handle, () => loading(() => driver.get(url))),
          reload: () => inWindow(handle, () => loading(() => driver.navigate().refresh())),
          run: <T>(body: string) =>
            inWindow(handle, async () => {
              const outcome = await driver.executeAsyncScript<{ value: T } | { error: string }>(
                `const done = arguments[0]; ${asFunction(body)}.then((value) => done({ value }), (error) => done({ error: String(error) }));`,
              );
              if ('error' in outcome) throw new Error(outcome.error);
              return outcome.value;
            }),
          click: (selector) => inWindow(handle, () => driver.findElement(By.css(selector)).click()),
          setOffline: () => Promise.reject(new Error(webkit.cannot.offline)),
          kill: () => Promise.reject(new Error(webkit.cannot.killed)),
          close: () => inWindow(handle, () => driver.close()),
        };
      },
      async close() {
        // The driver may have exited with its last window.
        await driver.quit().catch(() => undefined);
        await end(driverProcess);
        await end(server);
      },
    };
  },
};
