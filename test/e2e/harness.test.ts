import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import {
  crashRenderer,
  hide,
  type LifecycleBrowser,
  launchLifecycleBrowser,
  show,
  throughBfcache,
  WHERE_STORED,
  WHOLE_CHROMIUM,
  whileFrozen,
} from '../helpers/lifecycle-browser.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';

describe('the browser harness', () => {
  let pages: PageServer;
  let lifecycle: LifecycleBrowser;

  beforeAll(async () => {
    pages = await startPageServer({
      entries: [],
      modules: { limits: 'src/protocol/limits.ts' },
      origins: 2,
      pages: {
        '/': {
          html: '<p>Nothing yet</p>',
          script: `import { MAX_TRACK_OBJECTS } from '/placard/limits.js';
                   document.querySelector('p').textContent = MAX_TRACK_OBJECTS;`,
          headers: { 'content-security-policy': "default-src 'none'; script-src 'self'" },
        },
        // Engines are about to ignore unload handlers unless a policy allows them.
        '/bare': { headers: { 'permissions-policy': 'unload=(self)' } },
      },
    });
    lifecycle = await launchLifecycleBrowser();
  });
  afterAll(async () => {
    await lifecycle?.close();
    await pages?.close();
  });

  it('serves the package to a page under a strict policy, on every origin', async () => {
    const browser = await launchShell();
    try {
      const page = await browser.newPage();
      expect(pages.origins).toHaveLength(2);
      for (const origin of pages.origins) {
        await page.goto(origin);
        await page.getByText('75', { exact: true }).waitFor();
      }
    } finally {
      await browser.close();
    }
  });

  it('hides one page without hiding the other', async () => {
    const [first, second] = [await lifecycle.newPage(pages.origin), await lifecycle.newPage(pages.origin)];
    await hide(first);
    expect(await second.evaluate(() => document.visibilityState)).toBe('visible');
    await show(first);
    expect(await first.evaluate(() => document.visibilityState)).toBe('visible');
  });

  it('freezes and thaws a page', async () => {
    const page = await lifecycle.newPage(pages.origin);
    let ran = false;
    await whileFrozen(page, async () => {
      ran = true;
    });
    expect(ran).toBe(true);
  });

  it('restores a page from the bfcache, or fails', WHERE_STORED, async (context) => {
    context.skip(!lifecycle.hasBfcache, WHOLE_CHROMIUM);
    const page = await lifecycle.newPage(`${pages.origin}/bare`);
    await throughBfcache(page, `${pages.origin}/`);
    // Every engine excludes a page with an unload handler.
    await page.evaluate(() => addEventListener('unload', () => document.title.length));
    await expect(throughBfcache(page, `${pages.origin}/`)).rejects.toThrow(/bfcache/);
  });

  it('kills a renderer and keeps the profile usable', async () => {
    const page = await lifecycle.newPage(pages.origin);
    await crashRenderer(page);
    const next = await lifecycle.newPage(pages.origin);
    await next.getByText('75', { exact: true }).waitFor();
  });

  it('kills the whole browser and restarts it on the same profile', async () => {
    const page = await lifecycle.newPage(`${pages.origin}/bare`);
    await page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const open = indexedDB.open('kept', 1);
        open.onupgradeneeded = () => open.result.createObjectStore('records');
        open.onsuccess = () => resolve(open.result);
        open.onerror = () => reject(open.error);
      });
      const transaction = database.transaction('records', 'readwrite');
      transaction.objectStore('records').put('here', 'key');
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
    });
    await lifecycle.crashAndRestart();
    const next = await lifecycle.newPage(`${pages.origin}/bare`);
    const names = await next.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    expect(names).toEqual(['kept']);
  });
});
