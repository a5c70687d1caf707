import { expect } from 'vitest';
import { buildBanner } from '../../../src/testing/index.ts';
import { until } from '../../helpers/engines.ts';
import { heard, oneSecondSeen, type Scenario, TITLE, tracked } from './scenario.ts';
import { shop } from './shop.ts';

interface Place {
  seen: boolean;
  /** Markup around and including the slot, without the slot's ID. */
  html: string;
  isControl?: boolean;
  /** Hit tests in WebKit find the hidden back of a card, so it counts there. */
  isSeenInWebKit?: true;
}

/** A place counts as seen if hit tests cannot find what covers it, or if it has a mask. */
const UNDECIDED = true;

const SMALL = 'width: 100px; height: 40px';
const slot = (style: string) => `<div data-slot style="${style}"></div>`;
const scroller = (top: number) =>
  `<div class="scroller" data-top="${top}" style="width: 120px; height: 60px; overflow: auto">
     <div style="height: 200px"></div>${slot(SMALL)}<div style="height: 200px"></div></div>`;
const covered = (height: number) =>
  `${slot(SMALL)}<div style="position: absolute; top: 0; width: 100px; height: ${height}px; background: #ccc"></div>`;
const over = (style: string, tag = 'div') =>
  `<${tag} style="position: absolute; left: 0; top: 0; width: 100px; height: 40px; background: #ccc; ${style}"></${tag}>`;
const clipped = (width: number, shown: number, height: number) =>
  `<div style="height: ${shown}px; overflow: hidden">${slot(`width: ${width}px; height: ${height}px`)}</div>`;

/** Small places, each in a grid cell in the upper part of the viewport. */
const CELLS: Record<string, Place> = {
  whole: { seen: true, html: slot(SMALL) },
  'half of it': { seen: true, html: clipped(100, 20, 40) },
  'less than half of it': { seen: false, html: clipped(100, 19, 40) },
  'in a nested scroller, scrolled away': { seen: false, html: scroller(0) },
  'in a nested scroller, scrolled to': { seen: true, html: scroller(190) },
  'in a shadow root': { seen: true, html: `<template class="shadow">${slot(SMALL)}</template>` },
  'in a scaled parent': { seen: true, html: `<div style="transform: scale(0.5)">${slot(SMALL)}</div>` },
  'in a turned parent': {
    seen: true,
    html: `<div style="transform: rotate(8deg); width: 100px">${slot(SMALL)}</div>`,
  },
  'turned so far that its corners are far apart': {
    seen: true,
    html: slot(`${SMALL}; transform: rotate(45deg)`),
  },
  'turned far in a shadow root': {
    seen: true,
    html: `<template class="shadow">${slot(`${SMALL}; transform: rotate(45deg)`)}</template>`,
  },
  'under a veil that its parent draws': { seen: false, html: `<div class="veil">${slot(SMALL)}</div>` },
  'under a bar in the shadow root around it': {
    seen: false,
    html: `<div class="frame"><template class="bar"><slot></slot><div style="position: absolute; inset: 0; background: #ccc"></div></template>${slot(SMALL)}</div>`,
  },
  'in what is inert': { seen: true, html: `<div inert>${slot(SMALL)}</div>` },
  'moved out of view by a transform': {
    seen: false,
    html: `<div style="transform: translateX(-2000px)">${slot(SMALL)}</div>`,
  },
  'display: none': { seen: false, html: slot(`${SMALL}; display: none`) },
  'without height': { seen: false, html: slot('width: 100px; height: 0') },
  'visibility: hidden': { seen: false, html: slot(`${SMALL}; visibility: hidden`) },
  'covered by four fifths': { seen: false, html: covered(32) },
  'covered by a fifth': { seen: true, html: covered(8) },
  'between two bars that leave a quarter': {
    seen: false,
    html: `${slot(SMALL)}${over('top: 0; height: 15px')}${over('top: 25px; height: 15px')}`,
  },
  'under a transparent link that is stretched over the card': {
    seen: true,
    html: slot(SMALL) + over('background: none', 'a'),
  },
  'under a transparent canvas': { seen: true, html: slot(SMALL) + over('background: none', 'canvas') },
  'under an overlay of opacity 0': { seen: true, html: slot(SMALL) + over('opacity: 0') },
  'under a transparent veil that its parent draws': {
    seen: true,
    html: `<div class="clear veil">${slot(SMALL)}</div>`,
  },
  'under an overlay that lets pointers through': {
    seen: UNDECIDED,
    html: slot(SMALL) + over('pointer-events: none'),
  },
  'behind a mask that hides all': {
    seen: UNDECIDED,
    html: slot(`${SMALL}; mask-image: linear-gradient(transparent, transparent)`),
  },
  'of opacity 0.01': { seen: false, html: slot(`${SMALL}; opacity: 0.01`) },
  'under filter: opacity(0)': { seen: false, html: `<div style="filter: opacity(0)">${slot(SMALL)}</div>` },
  'faint parts that multiply to almost nothing': {
    seen: false,
    html: `<div style="opacity: 0.2">${slot(`${SMALL}; opacity: 0.3`)}</div>`,
  },
  'scaled to a hundredth': { seen: false, html: slot(`${SMALL}; transform: scale(0.01)`) },
  'of one pixel': { seen: false, html: slot('width: 1px; height: 1px') },
  'the back of a turned card': {
    seen: false,
    isSeenInWebKit: true,
    html: `<div style="transform: rotateY(180deg); backface-visibility: hidden">${slot(SMALL)}</div>`,
  },
  'a control banner that is covered': { seen: false, isControl: true, html: covered(40) },
  'a control banner of opacity 0': { seen: false, isControl: true, html: slot(`${SMALL}; opacity: 0`) },
  'a control banner that is hidden': {
    seen: false,
    isControl: true,
    html: slot(`${SMALL}; visibility: hidden`),
  },
  'a control banner without height under a dialog': {
    seen: false,
    isControl: true,
    html: `${slot('width: 100px; height: 0')}<dialog open style="inset: -8px 0; width: 80px; height: 20px">Cookies?</dialog>`,
  },
  'a control banner with a box': { seen: true, isControl: true, html: slot(SMALL) },
  'a control banner without height': { seen: true, isControl: true, html: slot('width: 100px; height: 0') },
  'a control banner in display: none': { seen: false, isControl: true, html: slot('display: none') },
};

const at = (left: number, top: string, inner: string) =>
  `<div style="position: absolute; left: ${left}px; top: ${top}">${inner}</div>`;

/** Places that need more room, or their own position on the page. */
const FREE: Record<string, Place> = {
  '30 % of a large one': { seen: true, html: at(0, '330px', clipped(500, 150, 500)) },
  '30 % of one just below the large size': { seen: false, html: at(510, '330px', clipped(250, 288, 960)) },
  'half of it above the fold': { seen: true, html: at(0, 'calc(100vh - 20px)', slot(SMALL)) },
  'less than half of it above the fold': { seen: false, html: at(120, 'calc(100vh - 19px)', slot(SMALL)) },
  'below the fold': { seen: false, html: at(0, '3000px', slot(SMALL)) },
  'in a shadow root below the fold': {
    seen: false,
    html: at(200, '3000px', `<template class="shadow">${slot(SMALL)}</template>`),
  },
  'a control banner below the fold': { seen: false, isControl: true, html: at(400, '3000px', slot(SMALL)) },
};
/** The number that fits above the others in the smallest window of the engines. */
const FIRST_CELLS = 24;
const cells = Object.entries(CELLS);
const PAGES: Record<string, Place>[] = [
  { ...Object.fromEntries(cells.slice(0, FIRST_CELLS)), ...FREE },
  Object.fromEntries(cells.slice(FIRST_CELLS)),
];

const cell = (html: string, i: number) =>
  at(10 + (i % 6) * 125, `${30 + Math.floor(i / 6) * 75}px`, `<div style="position: relative">${html}</div>`);

const getPage = (endpoint: string, places: Record<string, Place>, number: number) =>
  shop(endpoint, {
    html: Object.entries(places)
      .map(([name, { html }], i) => (name in FREE ? html : cell(html, i)))
      .map((html, i) => html.replace('data-slot', `data-slot="place-${number}-${i}"`))
      .join('\n'),
    script: `
      for (const each of document.querySelectorAll('.scroller')) each.scrollTop = each.dataset.top;
      const roots = [document];
      for (const template of document.querySelectorAll('template.shadow')) {
        const host = document.createElement('div');
        template.replaceWith(host);
        roots.push(host.attachShadow({ mode: 'open' }));
        roots.at(-1).append(template.content);
      }
      for (const template of document.querySelectorAll('template.bar')) {
        template.parentElement.attachShadow({ mode: 'open' }).append(template.content);
      }
      document.head.insertAdjacentHTML('beforeend', \`<style>
        .veil, .frame { position: relative; width: 100px }
        .veil::after { content: ''; position: absolute; inset: 0; background: #ccc }
        .clear::after { background: none }
      </style>\`);
      for (const root of roots) for (const each of root.querySelectorAll('[data-slot]')) {
        placard.mount(each.dataset.slot, each, () => undefined);
      }`,
  });

const HERO = '<div id="slot" style="width: 300px; height: 200px"></div>';
const SHOWN = `return notices.filter(({ type }) => type === 'shown').length`;

/** A page with frames: the hash of each names its placement, and how the page around treats the frame. */
const FRAMES: Record<string, { seen: boolean; style: string; cover?: string }> = {
  plain: { seen: true, style: '' },
  faint: { seen: false, style: 'opacity: 0' },
  hidden: { seen: false, style: 'visibility: hidden' },
  covered: {
    seen: false,
    style: '',
    cover: '<div style="position: absolute; inset: 0; background: #ccc"></div>',
  },
};

export const viewability: Scenario[] = [
  {
    name: 'a slot in a frame is not seen if the outer page hides or covers the frame',
    async run({ fake, api, pages, open }) {
      for (const name of Object.keys(FRAMES)) fake.setBanner(name, buildBanner(name, { title: name }));
      pages.set(
        '/frame',
        shop(api.origin, {
          html: '<div id="slot" style="width: 120px; height: 90px"></div>',
          script: `placard.mount(location.hash.slice(1), document.getElementById('slot'), draw);
            placard.subscribe((notice) => notice.type === 'tracked' && parent.notices.push(notice));`,
        }),
      );
      const html = Object.entries(FRAMES).map(([name, { style, cover = '' }], i) =>
        at(
          10 + i * 180,
          '20px',
          `<iframe src="/frame#${name}" width="150" height="110" style="${style}"></iframe>${cover}`,
        ),
      );
      pages.set('/frames', shop(api.origin, { html: html.join(''), script: ' ' }));
      const page = await open('/frames');
      await until(page, `return notices.some(({ event }) => event?.placementId === 'plain')`);
      await oneSecondSeen(page, 'witness-1');
      const seen = await page.run<string[]>(
        `return notices.flatMap(({ type, event }) => (type === 'tracked' ? [event.placementId] : []))`,
      );
      const result = Object.keys(FRAMES).map((name) => [name, seen.includes(name)]);
      expect(result).toEqual(Object.entries(FRAMES).map(([name, frame]) => [name, frame.seen]));
    },
  },
  {
    name: 'a slot covered repeatedly during its second is not seen',
    async run({ api, pages, open }) {
      const html = `${HERO}<div id="blink" style="position: absolute; top: 0; width: 300px; height: 200px; background: #ccc"></div>`;
      const script = `placard.mount('hero', document.getElementById('slot'), draw);
        const blink = document.getElementById('blink');
        setInterval(() => { blink.hidden = !blink.hidden; blink.style.display = blink.hidden ? 'none' : ''; }, 450);`;
      pages.set('/blink', shop(api.origin, { html, script }));
      const page = await open('/blink');
      await until(page, TITLE);
      await oneSecondSeen(page, 'witness-1');
      await oneSecondSeen(page, 'witness-2');
      expect(await page.run(tracked('impression'))).toBe(2);
    },
  },
  {
    name: 'cases 62 and 63: counts what is seen for a second by the published table, and nothing else',
    async run({ fake, api, pages, open }) {
      for (const [number, places] of PAGES.entries()) {
        for (const [i, { isControl = false }] of Object.values(places).entries()) {
          const name = `place-${number}-${i}`;
          fake.setBanner(name, buildBanner(name, {}, { is_control: isControl }));
        }
        pages.set(`/places-${number}`, getPage(api.origin, places, number));
        const page = await open(`/places-${number}`);
        const names = Object.keys(places);
        // One request holds ten placements.
        const synced = `return notices.filter(({ type }) => type === 'synced').length >= ${names.length / 10}`;
        await until(page, synced);
        await oneSecondSeen(page, `witness-${2 * number + 1}`);
        await oneSecondSeen(page, `witness-${2 * number + 2}`);
        const seen = await page.run<string[]>(
          `return notices.flatMap(({ type, event }) => (type === 'tracked' ? [event.placementId] : []))`,
        );
        const result = names.map((name, i) => [name, seen.includes(`place-${number}-${i}`)]);
        const isWebKit = await page.run<boolean>(`return navigator.vendor.startsWith('Apple')`);
        const expected = Object.entries(places).map(([name, place]) => [
          name,
          place.seen || (isWebKit && place.isSeenInWebKit === true),
        ]);
        expect(result).toEqual(expected);
        await page.close();
      }
    },
  },
  {
    name: 'does not count what a dialog covers, and counts it once the dialog is closed',
    async run({ api, pages, open }) {
      pages.set(
        '/dialog',
        shop(api.origin, {
          html: `<div id="slot" style="width: 300px; height: 100px"></div>
                 <dialog id="cover" style="width: 600px; height: 300px; margin: 0">Cookies?</dialog>`,
          script: `document.getElementById('cover').showModal();
                   placard.mount('hero', document.getElementById('slot'), draw);`,
        }),
      );
      const page = await open('/dialog');
      await until(page, TITLE);
      await oneSecondSeen(page, 'witness-1');
      expect(await page.run(tracked('impression'))).toBe(1);
      await page.run(`document.getElementById('cover').close()`);
      await until(page, `return (() => { ${tracked('impression')} })() === 2`);
    },
  },
  {
    name: 'counts an impression after one second in view, and none earlier',
    async run({ open }) {
      const page = await open('/shop?space=3000');
      await until(page, TITLE);
      await oneSecondSeen(page, 'witness-1');
      expect(await page.run(tracked('impression'))).toBe(1);
      const started = Date.now();
      await page.run(`document.getElementById('slot').scrollIntoView()`);
      await until(page, `return (() => { ${tracked('impression')} })() === 2`);
      expect(Date.now() - started).toBeGreaterThan(950);
    },
  },
  {
    name: 'case 39: counts one impression per session, over a reload, a second tab and a second slot',
    async run({ fake, open, expect }) {
      const page = await open();
      await until(page, heard('tracked'));
      await page.run('return placard.flush()');
      await page.reload();
      await until(page, heard('synced'));
      await page.run(`
        const second = document.createElement('div');
        second.style.cssText = 'width: 300px; height: 100px';
        document.body.append(second);
        placard.mount('hero', second, () => undefined);`);
      await oneSecondSeen(page, 'witness-1');
      const other = await open();
      await until(other, heard('synced'));
      await oneSecondSeen(other, 'witness-2');
      await page.run(`return placard.flush()`);
      await other.run(`return placard.flush()`);
      const heroes = () => fake.events.filter(({ bannerId }) => bannerId === 'banner-of-hero');
      await expect.poll(() => fake.events.length).toBe(3);
      expect(heroes()).toMatchObject([{ type: 'impression', copies: 1 }]);
    },
  },
  {
    name: 'case 65: a slot moved within the page is neither rendered nor counted again',
    async run({ api, pages, open }) {
      pages.set('/moved', shop(api.origin, { html: `<main>${HERO}</main><aside></aside>` }));
      const page = await open('/moved');
      await until(page, heard('tracked'));
      await page.run(`document.querySelector('aside').append(document.getElementById('slot'))`);
      await oneSecondSeen(page, 'witness-1');
      expect(await page.run(tracked('impression'))).toBe(2);
      expect(await page.run(SHOWN)).toBe(2);
    },
  },
  {
    name: 'case 61: a placement in two slots for two layouts, one of them hidden, is one impression',
    async run({ api, pages, open }) {
      const script = `for (const id of ['slot', 'narrow']) placard.mount('hero', document.getElementById(id), draw);`;
      const html = `${HERO}<div id="narrow" style="display: none; height: 200px"></div>`;
      pages.set('/layouts', shop(api.origin, { html, script }));
      const page = await open('/layouts');
      await until(page, heard('tracked'));
      await page.run(`
        document.getElementById('slot').style.display = 'none';
        document.getElementById('narrow').style.display = 'block';`);
      await oneSecondSeen(page, 'witness-1');
      expect(await page.run(tracked('impression'))).toBe(2);
    },
  },
  {
    name: 'counts a slot that is scrolled within the viewport during its second',
    async run({ api, pages, open }) {
      const html = `<main style="height: 3000px; padding-top: 350px">${HERO}</main>`;
      pages.set('/scrolled', shop(api.origin, { html }));
      const page = await open('/scrolled');
      // Always fully in view: no threshold is crossed, and after a second the slot has moved.
      await page.run(`
        const began = performance.now();
        const roll = () => {
          scrollTo(0, Math.min(300, (performance.now() - began) / 6));
          requestAnimationFrame(roll);
        };
        roll();`);
      await until(page, heard('tracked'));
    },
  },
];
