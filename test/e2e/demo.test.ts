// The demo: the visitor's shop, the marketer's Studio, and what the server exposes.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { axeProblems } from '../helpers/axe-problems.ts';
import { launchShell } from '../helpers/browser.ts';
import { patience } from '../helpers/patience.ts';
import { type RunningDemo, runDemo } from '../helpers/running-demo.ts';
import { watchPage } from '../helpers/watch-page.ts';

let demo: RunningDemo;
let browser: Browser;
beforeAll(async () => {
  demo = await runDemo({ makesMonth: true });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

const status = async (page: Page, text: string) => {
  await page.getByRole('tab', { name: 'Events' }).click();
  await page
    .locator('.standing')
    .getByText(text)
    .waitFor({ timeout: patience(90_000) });
};

const openShop = async (width: number) => {
  // axe is an external script, which the page's policy blocks.
  const context = await browser.newContext({ viewport: { width, height: 900 }, bypassCSP: true });
  const page = await context.newPage();
  const complaints = await watchPage(page);
  await page.goto(demo.url);
  const hero = page.locator('[data-placement="home_hero"]');
  await hero.locator('placard-frame').waitFor();
  return { page, hero, complaints, close: () => context.close() };
};

describe('the shop', () => {
  test.each([360, 1280])('fits a window of %i pixels and is accessible', async (width) => {
    const { page, complaints, close } = await openShop(width);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(await axeProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('delivers an impression, and a dismissal after an outage', async () => {
    const { page, hero, close } = await openShop(1280);
    await status(page, 'All events delivered.');
    await page.getByRole('switch', { name: 'No network' }).click();
    await hero.getByRole('button', { name: 'Dismiss' }).click();
    await status(page, 'One event pending.');
    await page.getByRole('switch', { name: 'No network' }).click();
    await status(page, 'All events delivered.');
    expect(await page.locator('.counters').getAttribute('data-holds')).toBe('true');
    await close();
  });
});

test('shows a finished experiment with its results in the Studio of the demo', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
  await page.goto(demo.studioUrl);
  await page.getByLabel('Operator key').fill('demo-operator-key');
  await page.keyboard.press('Enter');
  await page
    .getByRole('link', { name: /Spring collection/ })
    .first()
    .waitFor();
  await page.goto(`${demo.studioUrl}/campaigns/spring-collection/results`);
  await page.getByRole('heading', { name: /shelf.*kiln/i }).waitFor();
  await page.locator('.chart > svg').waitFor();
  await page.close();
});

describe('the server of the demo', () => {
  test('does not send the server key to browsers or serve files outside its pages', async () => {
    for (const entry of await readdir(demo.folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8');
      expect(text.includes('demo-server-key'), entry.name).toBe(false);
    }
    for (const path of ['/..%2f..%2fpackage.json', '/assets/', '/server/keys.ts', '/workspace.json'])
      expect((await fetch(demo.url + path)).status, path).toBe(404);
    const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' };
    expect((await fetch(`${demo.url}/demo/act`, { method: 'POST', headers, body: '{}' })).status).toBe(403);
  });

  test('runs the developer’s workspace, which rejects the keys of the demo', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'placard-own-'));
    const workspaceFile = join(folder, 'workspace.json');
    await writeFile(workspaceFile, JSON.stringify(aWorkspace()));
    const own = await runDemo({ workspaceFile });
    try {
      const integrations = (key: string) =>
        fetch(`${own.url}/cdi/integrations`, { headers: { authorization: `Bearer ${key}` } });
      expect((await integrations('demo-server-key')).status).toBe(401);
      expect((await integrations(SERVER_KEY)).status).not.toBe(401);
    } finally {
      await own.stop();
      await rm(folder, { recursive: true });
    }
  });
});
