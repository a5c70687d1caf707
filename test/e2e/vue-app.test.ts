// Builds the Vue recipe of docs/quickstart/vue.md with Vite from the packed package, and drives it in a browser.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import type { Browser } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { type Example, examplesIn } from '../helpers/document-examples.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { anApplication } from '../helpers/packed-package.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';
import { watchPage } from '../helpers/watch-page.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const INDEX = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<div id="app"></div><script type="module" src="./main.ts"></script>`;

let folder: string;
let service: RunningService;
let pages: HttpServer;
let browser: Browser;
beforeAll(async () => {
  const workspace = JSON.parse(await readFile('demo/workspace.json', 'utf8'));
  service = await runService([workspace]);
  service.clock.now = Date.now();
  folder = await anApplication({ vue: 'vue' });
  const recipe = examplesIn('docs/quickstart/vue.md');
  const code = (isMeant: (example: Example) => boolean) =>
    recipe.find(isMeant)!.code.replace('http://127.0.0.1:8787', service.url);
  const files = {
    'index.html': INDEX,
    'placard.ts': code(({ name }) => name === 'placard.ts'),
    'main.ts': code(({ name, use }) => name === 'main.ts' && use === 'vue'),
    'App.vue': code(({ language }) => language === 'vue'),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await build({ root: folder, configFile: false, logLevel: 'error', plugins: [vue()] });

  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${service.url}; require-trusted-types-for 'script'`;
  pages = await serveHandler(async (request) => {
    const path = new URL(request.url).pathname;
    // Images of the demo's campaigns.
    const isPicture = path.startsWith('/images/');
    const file = path === '/' ? '/index.html' : path;
    const body = await readFile(isPicture ? 'demo/public/images/mark.svg' : join(folder, 'dist', file));
    const type = TYPES[isPicture ? '.svg' : extname(file)]!;
    return new Response(body, { headers: { 'content-type': type, 'content-security-policy': policy } });
  });
  browser = await launchShell();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await service?.stop();
  await rm(folder, { recursive: true });
});

test('shows banners in a Vue app under a strict policy and delivers the users’ events', async () => {
  const page = await browser.newPage();
  const complaints = await watchPage(page);
  const events: string[] = [];
  page.on('response', async (response) => {
    const request = response.request();
    if (!request.url().endsWith('/banners/track') || response.status() !== 202) return;
    for (const event of request.postDataJSON().events) events.push(event.event_type);
  });
  await page.goto(pages.origin);
  await page.getByText(/Make room on the shelf|Fresh from the kiln/).waitFor();
  await page.getByRole('button', { name: 'Wrapped by hand, free' }).click();
  await expect.poll(() => events.sort()).toEqual(['click', 'impression', 'impression']);
  expect(complaints).toEqual([]);
  await page.close();
});
