// @vitest-environment node
import { expect, test } from 'vitest';
import type { CapturedEvent } from '../../../src/client/delivery/delivery.ts';
import { assertConserved } from '../../../src/testing/index.ts';
import { createWorld } from './world.ts';

test.each([{ placementId: null }, { placementId: 5 }, { bannerId: null }, { userId: null }])(
  'rejects only the event with %j and delivers all others, also on the next page',
  async (change) => {
    const world = createWorld();
    const tab = world.openTab();
    const whole = { type: 'click', bannerId: 'odd', placementId: 'p1', userId: 'u1' };
    const [odd, good] = await Promise.all([
      tab.delivery.capture({ ...whole, ...change } as unknown as CapturedEvent),
      tab.capture('good'),
    ]);
    expect(odd).toBeNull();
    expect(good).toMatchObject({ bannerId: 'good' });
    expect(tab.getNotices('failed')).toMatchObject([{ kind: 'config' }]);
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
    tab.kill();
    const next = world.openTab();
    await next.capture('later');
    await world.clock.advance(60_000);
    expect(world.sent()).toEqual([['good'], ['later']]);
    const diagnostics = await next.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 2, delivered: 2, pending: 0 });
    assertConserved(diagnostics);
    expect(next.getNotices('failed')).toEqual([]);
  },
);

test('sends the button of a click, ignores values that are not strings, and reports a string that is too long', async () => {
  const world = createWorld();
  const tab = world.openTab();
  const click = { type: 'click', bannerId: 'b1', placementId: 'p1', userId: 'u1' } as const;
  const listenerEvent = { type: 'click', isTrusted: true };
  const stored = await Promise.all(
    ['details', listenerEvent, '', 'x'.repeat(256)].map((buttonId) =>
      tab.delivery.capture({ ...click, buttonId }),
    ),
  );
  expect(stored.map((event) => event?.buttonId)).toEqual(['details', undefined, undefined, undefined]);
  expect(tab.getNotices('failed').map(({ message }) => message)).toEqual([
    'buttonId is longer than 255 characters: stored without it',
  ]);
  await tab.delivery.flush();
  expect(world.service.events.map(({ buttonId }) => buttonId)).toEqual(['details', null, null, null]);
  expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 4, delivered: 4 });
});
