import { expect } from 'vitest';
import type { SelectorPlacement } from '../../../src/protocol/index.ts';
import { buildBanner } from '../../../src/testing/index.ts';
import { until } from '../../helpers/engines.ts';
import { type Scenario, settle } from './scenario.ts';
import { shop } from './shop.ts';

const PATH = '/by-selector';
const place = { insert: 'prepend' as const, paths: [PATH], template: 'card', height_px: 200 };

/** Response of the service to pages with `selectors()`, in every scenario. */
export const SELECTOR_PLACEMENTS: SelectorPlacement[] = [
  { ...place, placement_id: 'room', selector: 'main > .room' },
  { ...place, placement_id: 'lost', selector: '#lost' },
];

const HTML = '<main><div class="room" style="min-height: 300px"></div><p id="below">A text</p></main>';
// The page declares `draw` after its client.
const OPTIONS = 'use: [selectors({ card: (banner, slot) => draw(banner, slot) })],';
const BOX = `document.querySelector('.room > [data-placard-placement="room"]')`;
const IS_DRAWN = `return ${BOX}?.querySelector('p')?.textContent === 'Sale'`;
const BELOW = `document.querySelector('#below').getBoundingClientRect().top`;

export const placementsBySelector: Scenario[] = [
  {
    name: 'inserts a placement by its selector without a layout shift, counts it, and follows the route there and back',
    async run({ fake, api, pages, open }) {
      fake.setBanner('room', buildBanner('room', { title: 'Sale' }));
      pages.set(
        PATH,
        shop(api.origin, {
          options: OPTIONS,
          html: HTML,
          script: `globalThis.top0 = ${BELOW};`,
        }),
      );
      const page = await open(PATH);
      await until(page, IS_DRAWN);
      expect(await page.run(`return ${BELOW} - top0`)).toBe(0);
      expect(await page.run(`return ${BOX}.getBoundingClientRect().height`)).toBe(200);
      await until(
        page,
        `return notices.some(({ type, event }) => type === 'tracked' && event.placementId === 'room')`,
      );
      await settle(page);
      expect(fake.events).toMatchObject([{ type: 'impression', bannerId: 'banner-of-room' }]);

      await page.run(
        `history.pushState(null, '', '/elsewhere'); document.querySelector('#below').textContent = 'Elsewhere'`,
      );
      await until(page, `return !${BOX}`);
      await page.run('history.back()');
      await until(page, IS_DRAWN);
    },
  },
  {
    name: 'reports a selector without a match',
    async run({ api, pages, open }) {
      pages.set(PATH, shop(api.origin, { options: OPTIONS, html: HTML }));
      const page = await open(PATH);
      await until(
        page,
        `return notices.some(({ type, message }) => type === 'failed' && /"lost" at "#lost" .* has no match/.test(message))`,
      );
    },
  },
];
