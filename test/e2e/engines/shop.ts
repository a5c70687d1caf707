import { buildBanner, type FakeService } from '../../../src/testing/index.ts';
import type { TestPage } from '../../helpers/page-server.ts';

/** Names for `mountWitness`. */
export const WITNESSES = ['witness-1', 'witness-2', 'witness-3', 'witness-4'];

export const stockBanners = (fake: FakeService): void => {
  fake.setBanner('hero', buildBanner('hero', { title: 'Sale' }));
  for (const name of WITNESSES) fake.setBanner(name, buildBanner(name));
};

interface Shop {
  /** Additional client options, as source. */
  options?: string;
  /** Runs in the page before any other script, as source. */
  before?: string;
  html?: string;
  /** Runs after the slot is mounted; if given, it does the mounting itself. */
  script?: string;
}

const SLOT = '<div id="space"></div><div id="slot" style="width: 600px; height: 200px"></div>';

/** The application under test: one slot, below the space that the page's address gives. */
export const shop = (
  endpoint: string,
  { options = '', before = '', html = SLOT, script }: Shop = {},
): TestPage => ({
  head: `<style>body { margin: 0 }</style><script>${before}</script>`,
  html,
  script: `
    import { createPlacard, selectors, visitors } from '/placard/index.js';
    const space = document.getElementById('space');
    if (space) space.style.height = (new URLSearchParams(location.search).get('space') ?? 0) + 'px';
    const notices = [];
    const placard = createPlacard({
      endpoint: ${JSON.stringify(endpoint)}, apiKey: 'client-key', appId: 'shop', appVersion: '1.0', userId: 'kim',
      // Another page takes over a batch of a closed page five seconds after this timeout.
      delivery: { maxDelayMs: 100, timeoutMs: 10_000 },
      ${options}
    });
    placard.subscribe((notice) => notices.push(notice));
    const draw = (banner, slot) => {
      const title = document.createElement('p');
      title.textContent = banner.properties.title.value;
      title.style.cssText = 'height: 150px; margin: 0';
      const dismiss = document.createElement('button');
      dismiss.textContent = 'Dismiss';
      dismiss.onclick = () => slot.dismiss();
      slot.element.append(title, dismiss);
      return () => slot.element.replaceChildren();
    };
    const count = async (type, times) => {
      const events = [];
      for (let at = 0; at < times; at += 1) events.push(placard.track(placard.banner('hero'), type));
      return Promise.all(events);
    };
    const mountWitness = (placementId) => {
      const element = document.createElement('div');
      element.style.cssText = 'position: fixed; right: 0; top: 0; width: 20px; height: 20px; z-index: 9';
      // Elements outside an open modal dialog are inert and covered.
      (document.querySelector('dialog[open]') ?? document.body).append(element);
      placard.mount(placementId, element, () => undefined);
    };
    const frames = async (wanted) => {
      for (let frame = 0; frame < wanted; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    };
    Object.assign(globalThis, {
      placard, notices, draw, count, mountWitness, frames, story: () => JSON.stringify(notices.slice(-12)),
    });
    ${script ?? "placard.mount('hero', document.getElementById('slot'), draw);"}
  `,
});
