import { expect } from 'vitest';
import { until } from '../../helpers/engines.ts';
import { FIRST_HTML, KEPT, renderedPage } from '../../helpers/first-html.ts';
import type { Scenario } from './scenario.ts';

const of = (type: string) => `(globalThis.told?.notices ?? []).filter((notice) => notice.type === '${type}')`;
const IMPRESSIONS = `${of('tracked')}.map(({ event }) => event.placementId)`;

export const serverRendering: Scenario[] = [
  {
    name: 'keeps what a server rendered from a bootstrap, renders it no second time, and counts it once',
    async run({ pages, open }) {
      pages.set('/react', await renderedPage('react'));
      const page = await open('/react');
      await until(page, `return ${of('synced')}.length > 0`);
      // Nothing is drawn for a control group: its second is over by the time a second drawing would be counted.
      await until(page, `return ${IMPRESSIONS}.includes('held_out') && ${IMPRESSIONS}.includes('home_hero')`);
      expect(await page.run(FIRST_HTML)).toEqual(KEPT);
      const impressions = await page.run<string[]>(`return ${IMPRESSIONS}`);
      expect(impressions.filter((placement) => placement === 'home_hero')).toHaveLength(1);
    },
  },
];
