import { type Browser, chromium } from 'playwright-core';
import { type BrowserBinary, findBrowser } from './browser-binary.ts';

/** No sandbox (the tests may run as root), and nothing that talks to the network on its own. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const launch = ({ path, env }: BrowserBinary): Promise<Browser> =>
  chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env } as Record<string, string>,
    args: BROWSER_ARGUMENTS,
  });

/** Chromium as people have it. `close()` it when done. */
export const launchBrowser = async (): Promise<Browser> => launch(await findBrowser());

/**
 * Chromium's headless shell, the same on every machine, for everything that does not depend on windows or on the page's
 * lifecycle: a whole Chromium draws a toolbar of its own for each page, unseen, and takes twice as long.
 */
export const launchShell = async (): Promise<Browser> => launch(await findBrowser('shell'));
