import { expect } from 'vitest';
import { buildBanner } from '../../../src/testing/index.ts';
import { until } from '../../helpers/engines.ts';
import { oneSecondSeen, type Scenario } from './scenario.ts';
import { shop } from './shop.ts';

interface Case {
  seen: boolean;
  /** Styles of the slot and of the element around it. */
  style?: string;
  around?: string;
  /** Body of the hook. */
  draw: string;
}

const PARAGRAPH = `const p = document.createElement('p'); p.textContent = 'Sale'; element.append(p);`;

const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAPAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==';

const CASES: Record<string, Case> = {
  'a paragraph': { seen: true, draw: PARAGRAPH },
  'bare text': { seen: true, draw: `element.append('Sale');` },
  'a child of display: contents around a child with a box': {
    seen: true,
    draw: `element.innerHTML = '<span style="display: contents"><b>Sale</b></span>';`,
  },
  'a shadow root on the slot itself': {
    seen: true,
    draw: `element.attachShadow({ mode: 'open' }).innerHTML = '<b>Sale</b>';`,
  },
  'a closed shadow root': {
    seen: true,
    draw: `element.attachShadow({ mode: 'closed' }).innerHTML = '<b>Sale</b>';`,
  },
  'a background of the slot': { seen: true, draw: `element.style.background = 'green';` },
  translucent: { seen: true, style: 'opacity: 0.3', draw: PARAGRAPH },
  'one child hidden, another not': {
    seen: true,
    draw: `element.innerHTML = '<i class="ad">Ad</i><b>Sale</b>';`,
  },
  'a strip in a large box': {
    seen: true,
    style: 'height: 100px',
    draw: `element.innerHTML = '<b style="display: block; font-size: 10px; line-height: 12px">Sale</b>';`,
  },
  'a line too low to read': {
    seen: false,
    style: 'height: 100px',
    draw: `element.innerHTML = '<b style="display: block; font-size: 4px; line-height: 5px">Sale</b>';`,
  },
  'texts without a background, far apart': {
    seen: true,
    draw: `element.innerHTML = '<b style="float: left">Sale</b><b style="position: absolute; bottom: 0; right: 0">Now</b>';`,
  },
  'a text that takes no pointer events': {
    seen: true,
    draw: `element.innerHTML = '<b style="pointer-events: none">Sale</b>';`,
  },
  'an image': {
    seen: true,
    draw: `element.innerHTML = '<img alt="" src="${PICTURE}" width="90" height="30">';`,
  },
  'a missing image': {
    seen: false,
    draw: `element.innerHTML = '<img alt="" src="/missing.png" width="90" height="30">';`,
  },
  'content of no height': {
    seen: false,
    draw: `element.innerHTML = '<div style="height: 0; overflow: hidden"><b>Sale</b></div>';`,
  },
  'content moved away': {
    seen: false,
    draw: `element.innerHTML = '<b style="position: relative; left: -9999px">Sale</b>';`,
  },
  'content scaled to nothing': {
    seen: false,
    draw: `element.innerHTML = '<b style="display: block; transform: scale(0)">Sale</b>';`,
  },
  'content that is clipped away': {
    seen: false,
    draw: `element.innerHTML = '<b style="display: block; clip-path: inset(50%)">Sale</b>';`,
  },
  'transparent text': { seen: false, draw: `element.innerHTML = '<b style="color: transparent">Sale</b>';` },
  'text of size 0': { seen: false, draw: `element.innerHTML = '<b style="font-size: 0">Sale</b>';` },
  'text in a slot of content-visibility: hidden': {
    seen: false,
    style: 'content-visibility: hidden',
    draw: `element.append('Sale');`,
  },
  "hidden by an ad blocker's style": {
    seen: false,
    draw: `element.innerHTML = '<div class="ad"><b>Sale</b></div>';`,
  },
  'removed by an observer at once': {
    seen: false,
    draw: `element.innerHTML = '<b class="remove">Sale</b>';`,
  },
  'removed by an observer later': {
    seen: false,
    draw: `element.innerHTML = '<b class="remove-later">Sale</b>';`,
  },
  'in a slot of opacity 0': { seen: false, style: 'opacity: 0', draw: PARAGRAPH },
  'text in a slot of opacity 0': { seen: false, style: 'opacity: 0', draw: `element.append('Sale');` },
  'under an ancestor of opacity 0': { seen: false, around: 'opacity: 0', draw: PARAGRAPH },
  'a background under an ancestor of opacity 0': {
    seen: false,
    around: 'opacity: 0',
    draw: `element.style.background = 'green';`,
  },
  'of opacity 0 inside the slot': {
    seen: false,
    draw: `element.innerHTML = '<b style="opacity: 0">Sale</b>';`,
  },
};

const html = Object.values(CASES)
  .map(
    ({ style = '', around = '' }, i) => `<div style="position: absolute; left: ${10 + (i % 7) * 120}px;
      top: ${30 + Math.floor(i / 7) * 105}px; ${around}"><div id="case-${i}" style="width: 100px; height: 40px; ${style}"></div></div>`,
  )
  .join('\n');

const script = `
  document.head.insertAdjacentHTML('beforeend', '<style>.ad { display: none !important } p { margin: 0 }</style>');
  new MutationObserver(() => {
    for (const each of document.querySelectorAll('.remove')) each.remove();
    for (const each of document.querySelectorAll('.remove-later')) setTimeout(() => each.remove(), 300);
  }).observe(document.body, { childList: true, subtree: true });
  ${Object.values(CASES)
    .map(
      ({ draw }, i) =>
        `placard.mount('case-${i}', document.getElementById('case-${i}'), (banner, { element }) => { ${draw} });`,
    )
    .join('\n')}`;

export const visibleContent: Scenario[] = [
  {
    name: 'counts rendered content, and not a slot whose content was hidden, removed or made transparent',
    async run({ fake, api, pages, open }) {
      const names = Object.keys(CASES);
      for (const i of names.keys()) fake.setBanner(`case-${i}`, buildBanner(`case-${i}`));
      pages.set('/content', shop(api.origin, { html, script }));
      const page = await open('/content');
      await until(page, `return notices.filter(({ type }) => type === 'shown').length >= ${names.length}`);
      await oneSecondSeen(page, 'witness-1');
      await oneSecondSeen(page, 'witness-2');
      const seen = await page.run<string[]>(
        `return notices.flatMap(({ type, event }) => (type === 'tracked' ? [event.placementId] : []))`,
      );
      const result = names.map((name, i) => [name, seen.includes(`case-${i}`)]);
      expect(result).toEqual(Object.entries(CASES).map(([name, each]) => [name, each.seen]));
    },
  },
  {
    name: 'counts a hidden banner one second after it is displayed again',
    async run({ api, pages, open }) {
      pages.set(
        '/hidden',
        shop(api.origin, { html: '<div id="slot" style="width: 300px; height: 200px; opacity: 0"></div>' }),
      );
      const page = await open('/hidden');
      await oneSecondSeen(page, 'witness-1');
      await page.run(`document.getElementById('slot').style.opacity = 1`);
      await until(
        page,
        `return notices.some(({ type, event }) => type === 'tracked' && event.placementId === 'hero')`,
      );
    },
  },
];
