// @vitest-environment node
import { describe, expect, test } from 'vitest';
import { createWorld, isBalanced, json, skip } from './world.ts';

describe('server answers', () => {
  test('an accepted batch is confirmed and forgotten', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const event = await tab.capture('b1', 'impression');
    expect(event).toMatchObject({ type: 'impression', bannerId: 'b1', userId: 'u1' });
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
    expect(world.requests).toHaveLength(1);
    expect(world.requests[0]).toMatchObject({
      url: 'https://api.test/v1/device-messaging/banners/track',
      redirect: 'error',
      body: {
        external_user_id: 'u1',
        app_id: 'app-1',
        app_version: '1.0.0',
        events: [{ id: 'b1', event_type: 'impression', timestamp: new Date(event!.time).toISOString() }],
      },
    });
    expect(world.requests[0]!.headers.get('authorization')).toBe('Bearer client-key');
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1, pending: 0 });
  });

  test('case 9: of five events the unnamed are confirmed, one is corrected and delivered, one becomes a dead letter', async () => {
    const world = createWorld();
    const asked: unknown[] = [];
    const tab = world.openTab({
      correct: (event, { reason, attempts }) => {
        asked.push([event.bannerId, reason, attempts]);
        return event.bannerId === 'b1' ? { ...event, bannerId: 'b1-fixed' } : null;
      },
    });
    world.serve(({ body }) => (body.events.length === 5 ? skip(5, [1, 3], "Invalid 'id'") : undefined));
    await Promise.all(['b0', 'b1', 'b2', 'b3', 'b4'].map((id) => tab.capture(id)));
    expect(await tab.delivery.flush()).toEqual({ delivered: 4, pending: 0 });
    expect(asked).toEqual([
      ['b1', "Invalid 'id'", 1],
      ['b3', "Invalid 'id'", 1],
    ]);
    expect(world.requests.map(({ body }) => body.events.map(({ id }) => id))).toEqual([
      ['b0', 'b1', 'b2', 'b3', 'b4'],
      ['b1-fixed'],
    ]);
    expect(await tab.delivery.deadLetters()).toMatchObject([
      { event: { bannerId: 'b3' }, reason: "Invalid 'id'", attempts: 1 },
    ]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 5, delivered: 4, deadLetters: 1, pending: 0 });
    expect(isBalanced(diagnostics)).toBe(true);
  });

  test('case 9: without a hook a skipped event is sent again later, until the attempt limit makes it a dead letter', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.serve(({ body }) =>
      skip(
        body.events.length,
        body.events.flatMap(({ id }, i) => (id === 'bad' ? [i] : [])),
      ),
    );
    await Promise.all([tab.capture('good'), tab.capture('bad')]);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1, pending: 1 });
    await world.clock.advance(60_000);
    expect(world.requests.map(({ body }) => body.events.map(({ id }) => id))).toEqual([
      ['good', 'bad'],
      ['bad'],
      ['bad'],
    ]);
    expect(await tab.delivery.deadLetters()).toMatchObject([{ event: { bannerId: 'bad' }, attempts: 3 }]);
  });

  test('case 14: one poison event costs at most log₂(n) requests more, beside the one every batch needs', async () => {
    for (const poison of [0, 1, 5, 7, 31, 49]) {
      const world = createWorld();
      const tab = world.openTab();
      world.serve(({ body }) =>
        body.events.some(({ id }) => id === 'poison') ? json(400, { message: 'no' }) : undefined,
      );
      await Promise.all(Array.from({ length: 50 }, (_, i) => tab.capture(i === poison ? 'poison' : `b${i}`)));
      await tab.delivery.flush();
      const last = world.requests.findLastIndex(({ body }) => body.events.every(({ id }) => id !== 'poison'));
      expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 49, deadLetters: 1, pending: 0 });
      // The refused one, then the search, then the rest.
      expect(last + 1).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(50)) + 1);
    }
  });
});
