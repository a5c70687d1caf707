import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { asFunction, type EngineKind } from './engines.ts';
import { inPath } from './machine.ts';
import { getDescendants, isGone } from './process-tree.ts';

const path = inPath('firefox-esr') ?? inPath('firefox');

/** First version known to support it; Firefox 140 does not. */
const WITH_OFFLINE = 153;
const version =
  path === undefined ? 0 : Number(/\d+/.exec(execFileSync(path, ['--version']).toString())?.[0]);

export const firefox: EngineKind = {
  name: 'Firefox',
  ...(path === undefined && { missing: 'apt-get install firefox-esr' }),
  cannot: {
    ...(!existsSync('/proc') && { killed: 'its processes are only found under /proc' }),
    ...(version < WITH_OFFLINE && {
      offline: `its driver may have no command for it before ${WITH_OFFLINE}`,
    }),
  },
  async launch() {
    const { default: puppeteer } = await import('puppeteer-core');
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: path!,
      headless: true,
      extraPrefsFirefox: {
        'network.captive-portal-service.enabled': false,
        'browser.safebrowsing.update.enabled': false,
      },
    });
    return {
      version: (await browser.version()).replace(/^firefox\//, 'Firefox '),
      async newPage() {
        // A tab would hide the previous one.
        const page = await browser.newPage({ type: 'window' });
        return {
          goto: async (url) => void (await page.goto(url)),
          reload: async () => void (await page.reload()),
          run: (body) => page.evaluate(asFunction(body)) as Promise<never>,
          click: (selector) => page.click(selector),
          setOffline: (isOffline) => page.setOfflineMode(isOffline),
          async kill() {
            // The driver does not say which process runs the page, so all content processes are killed.
            const killed = (await getDescendants(browser.process()!.pid!)).filter(({ command }) =>
              command.endsWith(' tab'),
            );
            for (const { pid } of killed) process.kill(pid, 'SIGKILL');
            // A process that the browser still considers alive may get the next window, which would die with it.
            await Promise.all(killed.map(({ pid }) => isGone(pid)));
          },
          close: () => page.close(),
        };
      },
      close: () => browser.close(),
    };
  },
};
