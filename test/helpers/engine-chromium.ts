import { launchBrowser } from './browser.ts';
import { asFunction, type EngineKind } from './engines.ts';

export const chromium: EngineKind = {
  name: 'Chromium',
  cannot: {},
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
          setOffline: (isOffline) => context.setOffline(isOffline),
          async kill() {
            const crashed = page.waitForEvent('crash');
            // The navigation never ends, because its process was killed.
            await Promise.race([crashed, page.goto('chrome://crash').catch(() => crashed)]);
          },
          close: () => page.close(),
        };
      },
      close: () => browser.close(),
    };
  },
};
