// A server-rendered page: bootstrap banners are in its HTML, and its script hydrates them.
import { renderToString as renderReact } from 'react-dom/server';
import { renderToString as renderVue } from 'vue/server-renderer';
import type { Banner, BannerBootstrap } from '../../src/client/index.ts';
import { APP_ID, reactPage, vuePage } from '../e2e/pages/rendered-tree.ts';
import { buildBanner } from './a-banner.ts';
import type { TestPage } from './page-server.ts';

/** Entries that `startPageServer` builds for these pages. */
export const RENDERED = { rendered: 'test/e2e/pages/rendered-page.ts' };

const served = (placementId: string, changes: Partial<Banner> = {}): Banner =>
  buildBanner({
    id: `bnr_${placementId}`,
    placementId,
    properties: { headline: { type: 'string', value: `For ${placementId}` } },
    ...changes,
  });

export const aBootstrap = (): BannerBootstrap => ({
  version: 1,
  appId: APP_ID,
  userId: 'u-1',
  fetchedAtMs: Date.now(),
  banners: {
    home_hero: served('home_hero'),
    held_out: served('held_out', { isControl: true }),
    // Expires before the browser receives it.
    gone: served('gone', { expiresAt: 1_000 }),
  },
});

export type Framework = 'react' | 'vue';

const RENDER: Record<Framework, (bootstrap: BannerBootstrap) => string | Promise<string>> = {
  react: (bootstrap) => renderReact(reactPage({ placard: null, bootstrap })),
  vue: (bootstrap) => renderVue(vuePage({ placard: null, bootstrap })),
};

export const firstHtml = async (framework: Framework, bootstrap = aBootstrap()): Promise<string> =>
  RENDER[framework](bootstrap);

/** Records the nodes of the initial HTML and each that is removed. */
const WATCH = `<script>
  window.first = document.querySelector('#home_hero a');
  window.removed = [];
  new MutationObserver((records) => {
    for (const { removedNodes } of records) for (const node of removedNodes) window.removed.push(node.textContent);
  }).observe(document.querySelector('#home_hero'), { childList: true, subtree: true });
</script>`;

/** The page at `/react` or `/vue`. */
export const renderedPage = async (framework: Framework, bootstrap = aBootstrap()): Promise<TestPage> => {
  const json = JSON.stringify(bootstrap).replaceAll('<', '\\u003c');
  return {
    html: `<div id="root">${await firstHtml(framework, bootstrap)}</div>${WATCH}<script type="application/json" id="bootstrap">${json}</script>`,
    script: "import '/placard/rendered.js';",
  };
};

/** Function body for the page that reports what became of the initial HTML of `home_hero`. */
export const FIRST_HTML = `return {
  isSame: first !== null && first === document.querySelector('#home_hero a'),
  links: document.querySelectorAll('#home_hero a').length,
  removed,
  faults,
}`;
export const KEPT = { isSame: true, links: 1, removed: [], faults: [] };
