import { expect } from 'vitest';
import { buildBanner } from '../../../src/testing/index.ts';
import { type EnginePage, until } from '../../helpers/engines.ts';
import { heard, NO_TITLE, type Scenario, TITLE, type World } from './scenario.ts';
import { shop } from './shop.ts';

/** Records the position of the text below the slot at every frame; a `LayoutShift` reports the same if the engine supports it. */
const WATCH = `
  globalThis.tops = new Set();
  globalThis.shifts = [];
  const watchText = () => {
    const look = () => {
      tops.add(Math.round(document.getElementById('text').getBoundingClientRect().top));
      requestAnimationFrame(look);
    };
    look();
  };
  if (globalThis.LayoutShift) {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(entry.value);
    }).observe({ type: 'layout-shift', buffered: true });
  }`;

const nothingMoved = async (page: EnginePage): Promise<void> => {
  await page.run('await frames(3)');
  expect(await page.run('return tops.size')).toBe(1);
  expect(await page.run('return shifts')).toEqual([]);
};

const LINE = '<p id="text">Text that must not move</p>';
const BOXED = `<div id="slot" style="min-height: 180px"></div>${LINE}<script>watchText()</script>`;

const setBoxed = ({ api, pages }: World): void =>
  pages.set('/boxed', shop(api.origin, { before: WATCH, html: BOXED }));

const HEIGHT = `document.getElementById('slot').offsetHeight`;
/** Heights that the client has stored. */
const TOLD = `Object.entries(localStorage).flat().join()`;
const MAKE_TALL = `document.body.append(Object.assign(document.createElement('div'), { style: 'height: 4000px' }))`;

export const painting: Scenario[] = [
  {
    name: 'paints the cached banner while the service is down',
    async run({ api, open }) {
      const page = await open();
      await until(page, TITLE);
      await until(page, heard('synced'));
      await api.stop();
      await page.reload();
      await until(page, TITLE);
      expect(await page.run(`return notices.find(({ type }) => type === 'shown')?.from`)).toBe('cache');
    },
  },
  {
    name: 'case 57: causes no layout shift on a first visit with a declared box, however late the banner arrives',
    async run(world) {
      setBoxed(world);
      world.fake.fail({ type: 'slow', delayMs: 300 });
      const page = await world.open('/boxed');
      await until(page, TITLE);
      await nothingMoved(page);
    },
  },
  {
    name: 'case 57: causes no layout shift if no user is eligible or the sync fails: a slot in view keeps its box',
    async run(world) {
      setBoxed(world);
      world.fake.setBanner('hero', null);
      const page = await world.open('/boxed');
      await until(page, heard('hidden'));
      await nothingMoved(page);
      world.fake.fail({ type: 'status', status: 404 });
      await page.reload();
      await until(page, heard('failed'));
      await nothingMoved(page);
    },
  },
  {
    name: 'causes no layout shift on a second visit without a declared box: the placement stores its height',
    async run({ api, pages, open }) {
      pages.set(
        '/remembered',
        shop(api.origin, {
          before: WATCH,
          html: '',
          // The slot and the text are added in the task of the mount, so every frame has the reserved height.
          script: `
            const slot = Object.assign(document.createElement('div'), { id: 'slot' });
            const text = Object.assign(document.createElement('p'), { id: 'text', textContent: 'Text' });
            document.body.append(slot, text);
            placard.mount('hero', slot, draw);
            watchText();`,
        }),
      );
      const page = await open('/remembered');
      await until(page, TITLE);
      await until(page, `return Object.keys(localStorage).some((key) => localStorage[key].includes('hero'))`);
      await page.reload();
      await until(page, TITLE);
      await until(page, heard('synced'));
      await nothingMoved(page);
    },
  },
  {
    name: 'stores the height per width: a wide slot’s height leaves no gap in a narrow one',
    async run({ api, pages, origin, open }) {
      pages.set(
        '/fluid',
        shop(api.origin, {
          before: WATCH,
          html: '',
          script: `
            const slot = Object.assign(document.createElement('div'), { id: 'slot' });
            slot.style.width = new URLSearchParams(location.search).get('width') + 'px';
            document.body.append(slot, Object.assign(document.createElement('p'), { id: 'text', textContent: 'Text' }));
            placard.mount('hero', slot, (banner, { element }) => {
              element.append(document.createElement('p'));
              element.firstChild.style.cssText = 'margin: 0; aspect-ratio: 4';
              element.firstChild.textContent = 'Sale';
            });
            watchText();`,
        }),
      );
      const page = await open('/fluid?width=600');
      await until(page, `return ${TOLD}.includes(':150')`);
      await page.goto(`${origin}/fluid?width=200`);
      await until(page, TITLE);
      expect(await page.run(`return ${HEIGHT}`)).toBe(50);
      await until(page, `return ${TOLD}.includes(':50')`);
      for (const width of [600, 200]) {
        await page.goto(`${origin}/fluid?width=${width}`);
        await until(page, heard('synced'));
        await nothingMoved(page);
      }
    },
  },
  {
    name: 'collapses an empty placement only out of view',
    async run(world) {
      world.fake.setBanner('hero', null);
      setBoxed(world);
      const page = await world.open('/boxed');
      await until(page, heard('hidden'));
      await page.run('await frames(2)');
      expect(await page.run(`return ${HEIGHT}`)).toBe(180);
      await page.close();
      const below = await world.open('/shop?space=3000');
      await until(below, `return ${HEIGHT} === 0`);
    },
  },
  {
    name: 'case 60: swaps or removes a banner only out of view',
    async run({ fake, open }) {
      const page = await open();
      await until(page, heard('synced'));
      await page.run(`${MAKE_TALL}; await frames(2)`);
      fake.setBanner('hero', buildBanner('hero', { title: 'Winter' }, { id: 'winter' }));
      await page.run('await placard.refresh()');
      expect(await page.run(TITLE)).toBe(true);
      await page.run('scrollTo(0, 3000)');
      await until(page, `return document.querySelector('#slot p').textContent === 'Winter'`);
      await page.run('scrollTo(0, 0); await frames(2)');
      fake.setBanner('hero', null);
      await page.run('await placard.refresh()');
      expect(await page.run(`return document.querySelector('#slot p').textContent`)).toBe('Winter');
      await page.run('scrollTo(0, 3000)');
      await until(page, NO_TITLE);
    },
  },
  {
    name: 'case 68: leaves nothing behind of hooks that throw and of 300 mounts, unmounted or just removed',
    async run({ open }) {
      const page = await open();
      await until(page, heard('tracked'));
      const left = await page.run(`
        const live = new Set();
        for (const { prototype } of [IntersectionObserver, ResizeObserver]) {
          const { observe, disconnect } = prototype;
          prototype.observe = function (element) { live.add(this); observe.call(this, element); };
          prototype.disconnect = function () { live.delete(this); disconnect.call(this); };
        }
        const before = document.querySelectorAll('*').length;
        let leftInside = 0;
        let aborted = 0;
        for (let at = 0; at < 300; at += 1) {
          const element = document.createElement('div');
          document.body.append(element);
          const unmount = placard.mount('hero', element, (banner, slot) => {
            slot.signal.addEventListener('abort', () => { aborted += 1; });
            slot.element.append(document.createElement('b'), banner.id);
            if (at % 3 === 0) throw new Error('A hook that throws');
          });
          if (at % 3 === 0) leftInside += element.childNodes.length;
          if (at % 2) unmount();
          element.remove();
          if (at % 50 === 0) await frames(1);
        }
        // The next mount finds what was removed without a word, and has not come back by the end of the task.
        placard.mount('hero', document.createElement('div'), () => undefined)();
        await frames(1);
        return { live: live.size, elements: document.querySelectorAll('*').length - before, leftInside, aborted };`);
      // The last twenty slots removed without an unmount may come back, and are then drawn again.
      expect(left).toEqual({ live: 20, elements: 0, leftInside: 0, aborted: 300 });
      expect(await page.run(TITLE)).toBe(true);
    },
  },
];
