// Builds the Next recipe of docs/guides/server-rendering.md from create-next-app, and drives it in a browser.
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { examplesIn } from '../helpers/document-examples.ts';
import { needs } from '../helpers/machine.ts';
import { buildNextApp, type NextServer, startNextApp } from '../helpers/next-app.ts';
import { patience } from '../helpers/patience.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';
import { watchPage } from '../helpers/watch-page.ts';

const HEADLINE = /Make room on the shelf|Fresh from the kiln/;

/** Installing the newest Next takes minutes and tests its generator more than Placard. */
const isNightly = process.env['PLACARD_LONG'] !== undefined;

let service: RunningService;
let app: NextServer;
let browser: Browser;
beforeAll(async () => {
  service = await runService([JSON.parse(await readFile('demo/workspace.json', 'utf8'))]);
  service.clock.now = Date.now();
  const files = examplesIn('docs/guides/server-rendering.md').flatMap(({ name, code }) =>
    name?.startsWith('app/') ? [[name, code.replace('http://127.0.0.1:8787', service.url)]] : [],
  );
  await buildNextApp(Object.fromEntries(files));
  app = await startNextApp();
  browser = await launchShell();
}, patience(300_000));
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await service?.stop();
});

const exported = async (): Promise<string[]> => {
  const types: string[] = [];
  for await (const { eventType } of service.store.exportBannerEvents('demo')) types.push(eventType);
  return types.sort();
};

test(
  'renders the banner in the first HTML of a Next.js app, hydrates it without warnings, and counts it once',
  needs('PLACARD_LONG, as in the nightly run', isNightly),
  async () => {
    const response = await fetch(app.origin);
    // In the markup, not only in the data that Next sends along.
    expect(await response.text()).toMatch(new RegExp(`<a [^>]*>(${HEADLINE.source})[^<]*</a>`));
    expect(response.headers.get('cache-control')).toMatch(/private.*no-store/);

    const page = await browser.newPage();
    const complaints = await watchPage(page);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        complaints.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(app.origin);
    await page.getByText(HEADLINE).waitFor();
    await expect.poll(exported).toEqual(['impression']);
    await page.getByText(HEADLINE).click({ modifiers: ['ControlOrMeta'] });
    // The service stores events in the order sent: a second impression would be stored by now.
    await expect.poll(exported).toEqual(['click', 'impression']);
    expect(complaints).toEqual([]);
  },
);
