// @vitest-environment node
import { expect, test, vi } from 'vitest';
import type { EventType } from '../../../src/client/banner.ts';
import { assertConserved } from '../../../src/testing/index.ts';
import { createWorld } from './world.ts';

/** Simulates the only edit that the protocol needs. */
vi.mock('../../../src/protocol/banners-track.ts', async (original) => {
  const protocol = await original<typeof import('../../../src/protocol/banners-track.ts')>();
  return { ...protocol, EVENT_TYPES: [...protocol.EVENT_TYPES, 'expand'] };
});
const EXPAND = 'expand' as EventType;

test('stores, sends, corrects and counts an event of a new type like any other', async () => {
  const world = createWorld();
  const tab = world.openTab({ onEventRejected: (event) => ({ ...event, bannerId: 'corrected' }) });
  world.service.fail({ type: 'skip', indices: [1] });
  await tab.capture('b1', EXPAND);
  await tab.capture('b2', EXPAND);
  expect(await tab.delivery.flush()).toEqual({ delivered: 2, pending: 0 });
  expect(world.service.events.map(({ type, bannerId }) => [type, bannerId])).toEqual([
    ['expand', 'b1'],
    ['expand', 'corrected'],
  ]);
  const diagnostics = await tab.delivery.diagnostics();
  expect(diagnostics).toMatchObject({ captured: 2, delivered: 2 });
  assertConserved(diagnostics);
});

test('applies the in-doubt policy of a new event type', async () => {
  const world = createWorld();
  const tab = world.openTab({ options: { guarantee: { [EXPAND]: 'at-most-once' } } });
  world.service.fail({ type: 'drop', when: 'after' }, { times: 2 });
  await tab.capture('b1', EXPAND);
  await tab.capture('b1', 'click');
  await world.clock.advance(60_000);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 2, delivered: 1, discarded: 1 });
  expect(tab.getNotices('failed').filter(({ kind }) => kind === 'config')).toEqual([]);
});

test('sends events of a new type in an exit flush', async () => {
  const world = createWorld();
  const tab = world.openTab();
  await tab.capture('b1', EXPAND);
  tab.tell('hidden');
  await world.settle();
  expect(world.service.events).toMatchObject([{ type: 'expand' }]);
});
