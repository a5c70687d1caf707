import { expect } from 'vitest';
import { isVisitorId } from '../../../src/protocol/index.ts';
import { until } from '../../helpers/engines.ts';
import { type Scenario, settle, TITLE } from './scenario.ts';
import { shop } from './shop.ts';
import { STORED } from './storage.ts';

const VISITOR = `return Object.entries(localStorage).find(([key]) => key.startsWith('placard-visitor:shop@'))?.[1] ?? null`;

export const visitors: Scenario[] = [
  {
    name: 'counts a visitor under one ID over a reload, and removes the ID on wipe',
    async run({ fake, api, pages, open }) {
      pages.set('/visit', shop(api.origin, { options: 'userId: null, use: [visitors()],' }));
      const page = await open('/visit');
      await until(page, TITLE);
      const visitor = await page.run<string>(VISITOR);
      expect(isVisitorId(visitor)).toBe(true);
      for (const visit of ['first', 'second']) {
        if (visit === 'second') await page.reload();
        await until(page, TITLE);
        await page.run(`return count('click', 1)`);
        await settle(page);
      }
      const clicked = fake.events.filter(({ type }) => type === 'click');
      expect(clicked.map(({ userId }) => userId)).toEqual([visitor, visitor]);
      await page.run('return placard.wipe()');
      expect(await page.run(STORED)).toBe(0);
      await page.reload();
      await until(page, TITLE);
      expect(await page.run(VISITOR)).not.toBe(visitor);
    },
  },
];
