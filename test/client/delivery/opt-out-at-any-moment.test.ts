// @vitest-environment node
import { expect, test } from 'vitest';
import type { BannerEvent } from '../../../src/client/banner.ts';
import { assertConserved, assertDeliveredExactlyOnce } from '../../../src/testing/index.ts';
import { createFaultyWorld, createWorld } from './world.ts';

const POLICIES = ['keep', 'purge', 'wipe'] as const;

/** Starts a flush, and opts out after `moment` responses of its store. Returns whether that many were reached. */
const optOutAt = async (moment: number, policy: (typeof POLICIES)[number]) => {
  const world = createWorld();
  let answers = Number.NEGATIVE_INFINITY;
  let sentBefore: number | undefined;
  const session = world.disk.session();
  const tab = world.openTab({
    options: { maxDelayMs: 60_000 },
    openStore(name) {
      const store = session.openStore(name);
      const counted = <T>(answer: Promise<T>): Promise<T> =>
        answer.then((value) => {
          answers += 1;
          if (answers === moment) {
            sentBefore = world.service.requests.length;
            void (policy === 'wipe' ? tab.delivery.wipe() : tab.delivery.disable(policy));
          }
          return value;
        });
      return {
        ...store,
        entries: (range) => counted(store.entries(range)),
        get: (key) => counted(store.get(key)),
        update: (keys, change) => counted(store.update(keys, change)),
      };
    },
  });
  await world.settle();
  const events = (await tab.captureMany(5)) as BannerEvent[];
  answers = 0;
  await tab.delivery.flush();
  await world.settle();
  return { world, tab, events, sentBefore };
};

test.each(POLICIES)(
  'case 69: an opt-out (%s) at any moment of a flush prevents all later requests',
  async (policy) => {
    let moments = 0;
    for (let moment = 1; ; moment += 1) {
      const { world, tab, events, sentBefore } = await optOutAt(moment, policy);
      if (sentBefore === undefined) break;
      moments += 1;
      expect(world.service.requests, `after answer ${moment}`).toHaveLength(sentBefore);
      if (policy === 'wipe') continue;
      const isSent = sentBefore > 0;
      const diagnostics = await tab.delivery.diagnostics();
      assertConserved(diagnostics);
      if (policy === 'purge') expect(diagnostics.purged + diagnostics.delivered).toBe(5);
      // Unsent events are not in doubt: they are sent at once when the user opts in again.
      if (policy === 'keep' && !isSent) {
        expect(diagnostics).toMatchObject({ pending: 5, inDoubt: 0 });
        await tab.delivery.enable();
        await tab.delivery.flush();
        expect(tab.getNotices('in-doubt')).toEqual([]);
        assertDeliveredExactlyOnce(world.service.events, events);
      }
    }
    expect(moments).toBeGreaterThan(3);
  },
);

test('an opt-in on the visit after an opt-out does not emit the opt-out, and stores events at once', async () => {
  const world = createWorld();
  const first = world.openTab();
  await first.delivery.disable('keep');
  first.kill();
  await world.clock.advance(1);
  const second = world.openTab({ consent: 'disabled' });
  const enabled = second.delivery.enable();
  const click = second.capture();
  await enabled;
  expect(await click).toMatchObject({ type: 'click' });
  expect(second.getNotices('consent')).toEqual([{ type: 'consent', state: 'enabled' }]);
  expect(world.state()?.consent).toBe('enabled');
});

test.each(['keep', 'send', 'purge'] as const)(
  'case 69: an opt-out (%s) handles a click with a write in progress like a stored click',
  async (policy) => {
    for (let turns = 0; turns < 30; turns += 1) {
      const world = createWorld();
      const tab = world.openTab({ options: { maxDelayMs: 60_000 } });
      await world.settle();
      const clicked = tab.capture('before');
      for (let i = 0; i < turns; i += 1) await Promise.resolve();
      await tab.delivery.disable(policy);
      expect(await tab.capture('after')).toBeNull();
      if (policy !== 'purge')
        expect(await clicked, `after ${turns} turns`).toMatchObject({ bannerId: 'before' });
      await world.clock.advance(120_000);
      expect(world.sent()).toEqual(policy === 'send' ? [['before']] : []);
      await tab.delivery.enable();
      await tab.delivery.flush();
      expect(world.sent(), `after ${turns} turns`).toEqual(policy === 'purge' ? [] : [['before']]);
      assertConserved(await tab.delivery.diagnostics());
    }
  },
);

test('case 69: a purge followed at once by an opt-in removes only earlier events', async () => {
  const turn = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) await Promise.resolve();
  };
  for (let before = 0; before < 12; before += 1) {
    for (let between = 0; between < 40; between += 4) {
      const world = createWorld();
      const tab = world.openTab({ options: { maxDelayMs: 60_000 } });
      const other = world.openTab({
        options: { maxDelayMs: 60_000 },
        notify(notice) {
          if (notice.type === 'consent' && notice.state === 'enabled') void other.capture('other');
        },
      });
      await tab.capture('stored');
      void tab.captureMany(3, 'click', 'u1', 'under way');
      await turn(before);
      const purged = tab.delivery.disable('purge');
      await turn(between);
      const enabled = tab.delivery.enable();
      const captured = tab.captureMany(2, 'click', 'u1', 'after');
      await Promise.all([purged, enabled]);
      const where = `${before} turns before, ${between} between`;
      expect(await captured, where).not.toContain(null);
      await world.settle();
      await tab.delivery.flush();
      expect(world.sent().flat().sort(), where).toEqual(['after0', 'after1', 'other']);
      assertConserved(await tab.delivery.diagnostics());
    }
  }
});

test.each(['keep', 'send', 'purge'] as const)(
  'case 69: an opt-in that the same page revokes (%s) does not enable other tabs',
  async (policy) => {
    const world = createWorld();
    const earlier = world.openTab();
    await earlier.delivery.disable('keep');
    const [tab, other] = [world.openTab(), world.openTab()];
    await Promise.all([tab, other].map(({ delivery }) => delivery.readConsent()));
    await Promise.all([tab.delivery.enable(), tab.delivery.disable(policy)]);
    await world.settle();
    expect(await other.delivery.readConsent()).toBe(false);
    expect(await other.capture('after the opt-out')).toBeNull();
    await world.settle();
    expect(world.sent()).toEqual([]);
  },
);

test('case 69: a pending opt-in does not override a later opt-out from another tab', async () => {
  const { world, store, openTab } = createFaultyWorld();
  await world.openTab().delivery.disable('keep');
  const [tab, other] = [openTab(), world.openTab()];
  await Promise.all([tab, other].map(({ delivery }) => delivery.readConsent()));
  await world.clock.advance(500);
  const disk = Promise.withResolvers<void>();
  store.fail({ type: 'wait', until: disk.promise }, { verbs: ['update'], times: 9 });
  const enabled = tab.delivery.enable();
  await world.clock.advance(500);
  await other.delivery.disable('keep');
  disk.resolve();
  await enabled;
  await world.settle();
  expect(await world.openTab().delivery.readConsent()).toBe(false);
  for (const each of [tab, other]) expect(await each.capture('after the opt-out')).toBeNull();
  expect(world.sent()).toEqual([]);
});

test('case 69: an opt-in with a pending event applies after any choice of an earlier visit', async () => {
  const world = createWorld();
  await world.openTab().delivery.disable('keep');
  await world.clock.advance(60_000);
  const tab = world.openTab();
  const inLine = tab.capture('in line');
  await tab.delivery.enable();
  await inLine;
  await world.settle();
  expect(await tab.delivery.readConsent()).toBe(true);
  expect(await tab.capture('after')).not.toBeNull();
});

test('case 69: a wipe after stop reaches the other tabs', async () => {
  const world = createWorld();
  const [tab, other] = [world.openTab(), world.openTab()];
  await other.capture('before');
  tab.delivery.stop();
  await tab.delivery.wipe();
  await world.settle();
  expect(await other.capture('after')).toBeNull();
  expect(world.records()).toEqual([]);
});

test('case 69: a wipe reaches the other tabs', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { maxDelayMs: 60_000 } });
  await tab.capture('stored');
  const before = tab.capture('in line');
  const wiped = tab.delivery.wipe();
  const enabled = tab.delivery.enable();
  const after = tab.capture('after');
  await Promise.all([wiped, enabled]);
  expect([await before, await after]).toMatchObject([null, { bannerId: 'after' }]);
  await tab.delivery.flush();
  expect(world.sent()).toEqual([['after']]);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
});
