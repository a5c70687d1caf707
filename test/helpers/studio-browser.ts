import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchShell } from './browser.ts';
import { runDemo } from './running-demo.ts';

export interface StudioBrowser {
  /** URL of the Studio. `serviceUrl` is that of its service. */
  url: string;
  serviceUrl: string;
  /** A page of the Studio, signed in, in a context of its own. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Reads from the Studio as its own pages do. */
  read(path: string): Promise<Record<string, unknown>>;
  /** Changes something as its own pages do. */
  call(method: string, path: string, body: unknown): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** The demo's Studio in a browser, where the demo's operator has signed in. */
export const openStudioBrowser = async (): Promise<StudioBrowser> => {
  const demo = await runDemo();
  const browser = await launchShell();
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(demo.studioUrl);
  await page.getByLabel('Operator key').fill('demo-operator-key');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
  const cookies = await first.cookies();
  await first.close();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return {
    url: demo.studioUrl,
    serviceUrl: demo.url,
    async open(path = '/', options = {}) {
      const context = await browser.newContext({
        locale: 'en-GB',
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      await context.addCookies(cookies);
      const opened = await context.newPage();
      await opened.goto(demo.studioUrl + path);
      await opened.locator('main').waitFor();
      return opened;
    },
    async read(path) {
      const response = await fetch(demo.studioUrl + path, { headers: { cookie } });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    async call(method, path, body) {
      const response = await fetch(demo.studioUrl + path, {
        method,
        headers: { origin: demo.studioUrl, 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    async stop() {
      await browser.close();
      await demo.stop();
    },
  };
};
