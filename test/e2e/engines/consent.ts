import { expect } from 'vitest';
import type { BannerEvent, Diagnostics } from '../../../src/client/index.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../../src/testing/index.ts';
import { until } from '../../helpers/engines.ts';
import { heard, NO_TITLE, oneSecondSeen, type Scenario, settle, TITLE, type World } from './scenario.ts';
import { shop } from './shop.ts';
import { STORED } from './storage.ts';

const patient = ({ api, pages }: World): void =>
  pages.set('/consent', shop(api.origin, { options: 'delivery: { maxDelayMs: 60_000 },' }));

const clicks = ({ fake }: Pick<World, 'fake'>) => fake.events.filter(({ type }) => type === 'click').length;

/** Opts out in one of two tabs, with three clicks in the queue. */
const optOut = async (world: World, queued: 'keep' | 'send' | 'purge') => {
  patient(world);
  const page = await world.open('/consent');
  await until(page, TITLE);
  const other = await world.open('/consent');
  await until(other, TITLE);
  // The first events of a page leave at the first pause, and would take the clicks along. So the impression is sent first.
  await until(
    page,
    `const { captured, delivered } = await placard.diagnostics(); return captured > 0 && captured === delivered`,
  );
  await page.run(`await count('click', 3); await placard.disable('${queued}')`);
  await until(page, NO_TITLE);
  // Case 40: the other tab stops at once.
  await until(other, NO_TITLE);
  await until(other, heard('consent'));
  return { page, diagnostics: await page.run<Diagnostics>('return placard.diagnostics()') };
};

export const consent: Scenario[] = [
  {
    name: 'stores, requests and sends nothing before consent, and everything after it',
    async run({ fake, api, pages, open, expect }) {
      pages.set('/asking', shop(api.origin, { options: `consent: 'disabled',` }));
      const page = await open('/asking');
      await until(page, `return Boolean(globalThis.placard)`);
      await page.run(`await placard.refresh(); await placard.flush(); await frames(5)`);
      expect(fake.requests).toEqual([]);
      expect(await page.run(STORED)).toBe(0);
      await page.run('return placard.enable()');
      await until(page, TITLE);
      await oneSecondSeen(page, 'witness-1');
      await settle(page);
      // If the page slept through the first second, the banner is seen for another one.
      await expect.poll(() => fake.events.length).toBeGreaterThanOrEqual(2);
    },
  },
  {
    name: 'stores and sends nothing while consent is pending, and sends what happened in the meantime once after the opt-in',
    async run({ fake, api, pages, open }) {
      pages.set('/undecided', shop(api.origin, { options: `consent: 'pending',` }));
      const page = await open('/undecided');
      await until(page, TITLE);
      await oneSecondSeen(page, 'witness-1');
      await page.run(`await count('click', 3); await placard.flush()`);
      expect(await page.run('return indexedDB.databases()')).toEqual([]);
      expect(await page.run(STORED)).toBe(0);
      expect(fake.events).toEqual([]);
      await page.run('return placard.enable()');
      await settle(page);
      const events = `return notices.flatMap(({ type, event }) => (type === 'tracked' ? [event] : []))`;
      assertDeliveredExactlyOnce(fake.events, await page.run<BannerEvent[]>(events));
      expect(clicks({ fake })).toBe(3);
      assertConserved(await page.run<Diagnostics>('return placard.diagnostics()'));
    },
  },
  {
    name: 'case 1: events before an opt-in are durable when enable() resolves: the process of the page is killed',
    needs: 'killed',
    async run({ fake, api, pages, open }) {
      pages.set('/undecided', shop(api.origin, { options: `consent: 'pending',` }));
      const page = await open('/undecided');
      await until(page, TITLE);
      await page.run(`await count('click', 3); await placard.enable()`);
      await page.kill();
      const next = await open();
      await until(next, TITLE);
      await settle(next);
      expect(clicks({ fake })).toBe(3);
    },
  },
  {
    name: `case 69: "keep" holds the queue until the next opt-in`,
    async run(world) {
      const { page, diagnostics } = await optOut(world, 'keep');
      expect(diagnostics.pending).toBeGreaterThanOrEqual(3);
      await page.run('return placard.flush()');
      expect(clicks(world)).toBe(0);
      await page.run('return placard.enable()');
      await settle(page);
      expect(clicks(world)).toBe(3);
    },
  },
  {
    name: `case 69: "send" drains the queue and captures nothing more`,
    async run(world) {
      const { page } = await optOut(world, 'send');
      await settle(page);
      expect(clicks(world)).toBe(3);
      await page.run(`await placard.track({ id: 'banner-of-hero', placementId: 'hero' }, 'click')`);
      expect(await page.run<Diagnostics>('return placard.diagnostics()')).toMatchObject({ pending: 0 });
    },
  },
  {
    name: `case 69: "purge" leaves nothing to send`,
    async run(world) {
      const { page, diagnostics } = await optOut(world, 'purge');
      expect(diagnostics).toMatchObject({ pending: 0, inDoubt: 0 });
      expect(diagnostics.purged).toBeGreaterThanOrEqual(3);
      await page.run('return placard.flush()');
      expect(clicks(world)).toBe(0);
    },
  },
];
