// @vitest-environment node
import { expect, test } from 'vitest';
import { LOG_STATE_KEY, newLogState } from '../../../src/client/delivery/log/records.ts';
import { createFaultyWorld, deafLink } from './world.ts';

const MINUTE_MS = 60_000;
const FOREVER = { times: Number.POSITIVE_INFINITY };

test.each(['setMany', 'entries', 'update'] as const)(
  'a click on storage that hangs (%s) settles after stop() and is not reported as stored',
  async (verb) => {
    const { world, store, openTab } = createFaultyWorld();
    const tab = openTab();
    if (verb !== 'entries') await tab.capture('warm');
    store.fail({ type: 'hang' }, { verbs: [verb], ...FOREVER });
    const clicked =
      verb === 'update'
        ? tab.delivery.capture({
            type: 'impression',
            bannerId: 'b1',
            placementId: 'p1',
            userId: 'u1',
            dedupName: 'b1',
          })
        : tab.capture();
    await world.settle();
    tab.delivery.stop();
    await world.clock.advance(MINUTE_MS);
    expect(await Promise.race([clicked, world.settle().then(() => 'unsettled')])).toBeNull();
    expect(world.clock.pending()).toBe(0);
  },
);

test.each([
  ['send', { delivered: 2, pending: 0, purged: 1 }],
  ['keep', { delivered: 1, pending: 1, purged: 1 }],
  ['purge', { delivered: 1, pending: 0, purged: 2 }],
] as const)(
  'a tab in memory mode that missed an opt-out (%s) reads it from IndexedDB and removes all later events',
  async (policy, left) => {
    const { world, store, openTab } = createFaultyWorld();
    const tab = openTab({ openChannel: deafLink, options: { maxDelayMs: 10 * MINUTE_MS } });
    const other = world.openTab({ openChannel: deafLink });
    await tab.capture('warm');
    await tab.delivery.flush();
    store.fail({ type: 'reject', error: 'QuotaExceededError' }, { verbs: ['setMany', 'update'], ...FOREVER });
    await tab.capture('before');
    await world.clock.advance(MINUTE_MS);
    await other.delivery.disable(policy);
    await world.clock.advance(1);
    await tab.capture('after');
    // The disk is checked every 30 seconds.
    await world.clock.advance(MINUTE_MS);
    await tab.delivery.flush();
    expect(world.sent().flat()).not.toContain('after');
    expect(await tab.capture('later')).toBeNull();
    store.recover();
    await world.clock.advance(5 * MINUTE_MS);
    await tab.delivery.flush();
    expect(world.sent().flat()).toEqual(policy === 'send' ? ['warm', 'before'] : ['warm']);
    expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: false, ...left });
  },
);

test('keeps the record of a newer version that takes over the log during the return from memory mode', async () => {
  const { world, store, openTab } = createFaultyWorld();
  store.fail({ type: 'reject', error: 'UnknownError' }, { times: 3 });
  const tab = openTab();
  await tab.capture('in memory');
  const { promise: until, resolve } = Promise.withResolvers<void>();
  store.recover();
  store.fail({ type: 'wait', until }, { verbs: ['update'] });
  tab.tell('visible');
  await world.settle();
  const newer = { ...newLogState('enabled'), v: 2, more: 'of a newer version' };
  await world.disk.openStore(world.name).setMany([[LOG_STATE_KEY, newer]]);
  resolve();
  await world.clock.advance(MINUTE_MS);
  expect(world.records()).toEqual([[LOG_STATE_KEY, newer]]);
  expect(await tab.delivery.diagnostics()).toMatchObject({ memoryMode: true, captured: 1 });
});
