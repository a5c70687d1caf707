import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { BROWSER_ARGUMENTS, findBrowser } from './browser.ts';

/** Requirement of tests that need prerendering or the bfcache, which the bundled headless shell lacks. */
export const WHOLE_CHROMIUM = 'apt-get install chromium, and no PLACARD_BROWSER=bundled';

/**
 * Chromium with the bfcache, timer throttling and real focus. Playwright's launcher disables all three by arguments and
 * emulation, so this one starts the browser itself and attaches without Playwright's defaults.
 */
export interface LifecycleBrowser {
  browser: Browser;
  /** The profile's default context; its storage survives `crashAndRestart`. */
  context: BrowserContext;
  /** Opens a page in its own window, so that hiding one hides no other. */
  newPage(url?: string): Promise<Page>;
  /** False in the bundled headless shell. */
  hasBfcache: boolean;
  /** Kills the browser and restarts it on the same profile. */
  crashAndRestart(): Promise<void>;
  close(): Promise<void>;
}

const start = async (profile: string): Promise<{ child: ChildProcess; browser: Browser }> => {
  const { path, env } = await findBrowser();
  const child = spawn(
    path,
    [
      '--headless',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      '--disable-dev-shm-usage',
      '--disable-default-apps',
      '--disable-breakpad',
      '--disable-search-engine-choice-screen',
      '--no-default-browser-check',
      '--password-store=basic',
      '--hide-crash-restore-bubble',
      ...BROWSER_ARGUMENTS,
      'about:blank',
    ],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const orphaned = () => process.kill(-child.pid!, 'SIGKILL');
  process.once('exit', orphaned);
  child.once('exit', () => process.off('exit', orphaned));
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    log.push(line);
    const endpoint = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (!endpoint) continue;
    child.stderr!.resume();
    return { child, browser: await chromium.connectOverCDP(endpoint, { noDefaults: true }) };
  }
  throw new Error(`${path} ended before it could be reached:\n${log.join('\n')}`);
};

/** Kills the process group, because renderers outlive the browser briefly and keep the profile locked. */
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await gone;
};

export const launchLifecycleBrowser = async (): Promise<LifecycleBrowser> => {
  const profile = await mkdtemp(join(tmpdir(), 'placard-profile-'));
  let running = await start(profile);
  const context = () => running.browser.contexts()[0]!;
  const { kind } = await findBrowser();
  return {
    hasBfcache: kind !== 'bundled',
    get browser() {
      return running.browser;
    },
    get context() {
      return context();
    },
    async newPage(url) {
      const session = await running.browser.newBrowserCDPSession();
      const opened = context().waitForEvent('page');
      await session.send('Target.createTarget', { url: 'about:blank', newWindow: true });
      const page = await opened;
      await session.detach();
      if (url) await page.goto(url);
      return page;
    },
    async crashAndRestart() {
      await kill(running.child);
      await rm(join(profile, 'SingletonLock'), { force: true });
      running = await start(profile);
    },
    async close() {
      await running.browser.close();
      await kill(running.child);
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
};

/** Kills the page's renderer, as the system does when memory runs out. The page object is unusable then. */
export const crashRenderer = async (page: Page): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  // The command has no response, because the renderer is gone.
  session.send('Page.crash').catch(() => undefined);
  await crashed;
};

/** Minimizes the page's window and waits until the page is hidden. */
export const hide = (page: Page): Promise<void> => setWindow(page, 'minimized', 'hidden');

/** Restores the page's window and waits until the page is visible. */
export const show = (page: Page): Promise<void> => setWindow(page, 'normal', 'visible');

const setWindow = async (
  page: Page,
  windowState: 'minimized' | 'normal',
  expected: DocumentVisibilityState,
): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const { windowId } = await session.send('Browser.getWindowForTarget');
  await session.send('Browser.setWindowBounds', { windowId, bounds: { windowState } });
  await session.detach();
  // Polls by time, because a hidden page renders no frames.
  await page.waitForFunction((state) => document.visibilityState === state, expected, { polling: 50 });
};

/** Freezes the page as a browser freezes background tabs, runs `meanwhile`, and resumes it. */
export const whileFrozen = async (page: Page, meanwhile: () => Promise<void>): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { placardLifecycle: seen });
    for (const type of ['freeze', 'resume']) document.addEventListener(type, () => seen.push(type));
  });
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await meanwhile();
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await session.detach();
  // Polls by time, because the page may be hidden and render no frames.
  await page.waitForFunction(
    () => {
      const { placardLifecycle: seen } = globalThis as unknown as { placardLifecycle: string[] };
      return seen.includes('freeze') && seen.includes('resume');
    },
    undefined,
    { polling: 50 },
  );
};

/**
 * Chromium may evict a page from the bfcache for internal reasons, reported as `masked`. The test is repeated then; any
 * reason of the page has a name and fails the test.
 */
export const WHERE_STORED = { retry: { count: 2, condition: /"reasons":\[\{"reason":"masked"\}\]/ } };

/**
 * Navigates to `url` and back; fails unless the page was restored from the bfcache (same document, `pageshow` with
 * `persisted`). `meanwhile` runs while the page is in the bfcache.
 */
export const throughBfcache = async (
  page: Page,
  url: string,
  meanwhile?: () => Promise<void>,
): Promise<void> => {
  await page.evaluate(() => {
    const shows: boolean[] = [];
    Object.assign(globalThis, { placardShows: shows });
    addEventListener('pageshow', (event) => shows.push(event.persisted));
  });
  await page.goto(url);
  await meanwhile?.();
  // A restored page fires no load event.
  await page.goBack({ waitUntil: 'commit' });
  const shows = await page.waitForFunction(() => {
    const { placardShows } = globalThis as unknown as { placardShows?: boolean[] };
    return document.readyState === 'complete' && { shows: placardShows ?? [] };
  });
  const { shows: persisted } = (await shows.jsonValue()) as { shows: boolean[] };
  if (persisted.at(-1) !== true) {
    const reasons = await page.evaluate(() => {
      const [entry] = performance.getEntriesByType('navigation') as (PerformanceNavigationTiming & {
        notRestoredReasons?: unknown;
      })[];
      return JSON.stringify(entry?.notRestoredReasons ?? null);
    });
    throw new Error(`The page was reloaded instead of restored from the bfcache: ${reasons}`);
  }
};
