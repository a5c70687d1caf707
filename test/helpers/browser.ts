import { type Browser, chromium } from 'playwright-core';
import { findBrowser } from './browser-binary.ts';

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

/** Chromium for everything that does not depend on the page's lifecycle. `close()` it when done. */
export const launchBrowser = async (): Promise<Browser> => {
  const { path, env } = await findBrowser();
  return chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env } as Record<string, string>,
    args: BROWSER_ARGUMENTS,
  });
};
