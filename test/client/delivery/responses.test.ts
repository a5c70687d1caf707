// @vitest-environment node
import { describe, expect, test } from 'vitest';
import {
  assertConserved,
  assertDeliveredInOrder,
  type Fault,
  type RateLimitForm,
} from '../../../src/testing/index.ts';
import { createWorld, TRACK } from './world.ts';

const HOUR_MS = 60 * 60_000;

describe('server responses', () => {
  test('contract 2.6: sends an accepted batch as specified, confirms it and removes it', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const event = await tab.capture('b1', 'impression');
    expect(event).toMatchObject({ type: 'impression', bannerId: 'b1', userId: 'u1' });
    expect(await tab.delivery.flush()).toEqual({ delivered: 1, pending: 0 });
    expect(world.bodies()).toEqual([
      {
        external_user_id: 'u1',
        app_id: 'app-1',
        app_version: '1.0.0',
        events: [{ id: 'b1', event_type: 'impression', timestamp: new Date(event!.time).toISOString() }],
      },
    ]);
    expect(world.service.requests[0]).toMatchObject({ method: 'POST', path: TRACK });
    expect(world.service.requests[0]!.headers.get('authorization')).toBe('Bearer client-key');
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1, pending: 0 });
    expect(world.records()).toHaveLength(1);
  });

  test('case 9: of five events, confirms three, corrects and delivers one, and moves one to the dead letters', async () => {
    const world = createWorld();
    const asked: unknown[] = [];
    const tab = world.openTab({
      onEventRejected: (event, { reason, attempts }) => {
        asked.push([event.bannerId, reason, attempts]);
        return event.bannerId === 'b1' ? { ...event, bannerId: 'b1-fixed' } : null;
      },
    });
    world.service.fail({ type: 'skip', indices: [1, 3], reason: "Invalid 'id'" });
    await tab.captureMany(5);
    expect(await tab.delivery.flush()).toEqual({ delivered: 4, pending: 0 });
    expect(asked).toEqual([
      ['b1', "Invalid 'id'", 1],
      ['b3', "Invalid 'id'", 1],
    ]);
    expect(world.sent()).toEqual([['b0', 'b1', 'b2', 'b3', 'b4'], ['b1-fixed']]);
    expect(await tab.delivery.deadLetters()).toMatchObject([
      { event: { bannerId: 'b3' }, reason: "Invalid 'id'", attempts: 1 },
    ]);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 5, delivered: 4, deadLetters: 1, pending: 0 });
    assertConserved(diagnostics);
  });

  test('case 9: without a hook, retries a skipped event later and finally moves it to the dead letters', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'skip', indices: [1] });
    world.service.fail({ type: 'skip', indices: [0] }, { times: 2 });
    await tab.captureMany(2);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1, pending: 1 });
    await world.clock.advance(60_000);
    expect(world.sent()).toEqual([['b0', 'b1'], ['b1'], ['b1']]);
    expect(await tab.delivery.deadLetters()).toMatchObject([{ event: { bannerId: 'b1' }, attempts: 3 }]);
    expect(tab.getNotices('rejected').map(({ attempts }) => attempts)).toEqual([1, 2, 3]);
    expect(tab.getNotices('dropped')).toMatchObject([{ reason: 'max-attempts' }]);
  });

  test('case 9: keeps the user of a corrected event, and does not delay other events for it', async () => {
    const world = createWorld();
    const tab = world.openTab({
      async onEventRejected(event) {
        await tab.capture('later');
        return { ...event, bannerId: 'fixed', userId: 'somebody else' };
      },
    });
    world.service.fail({ type: 'skip', indices: [0] });
    await tab.capture('first');
    await tab.delivery.flush();
    expect(world.sent()).toEqual([['first'], ['later'], ['fixed']]);
    expect(world.bodies().every((body) => body.external_user_id === 'u1')).toBe(true);
    expect(tab.getNotices('failed').map(({ kind }) => kind)).toEqual(['delivery', 'correction']);
  });

  test('case 9: the next page calls onEventRejected() again if a page dies during it, and does not send the original event', async () => {
    const world = createWorld();
    const first = world.openTab({ onEventRejected: () => new Promise(() => undefined) });
    world.service.fail({ type: 'skip', indices: [0] });
    await first.capture('bad');
    void first.delivery.flush();
    await world.settle();
    first.kill();
    const second = world.openTab({ onEventRejected: (event) => ({ ...event, bannerId: 'good' }) });
    await world.clock.advance(60_000);
    expect(world.sent()).toEqual([['bad'], ['good']]);
    expect(await second.delivery.diagnostics()).toMatchObject({ captured: 1, delivered: 1 });
  });

  test('case 10: counts valid indexes once, reports invalid ones, and does not drop other events', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const error = (index: unknown) => ({ type: 'bad', index });
    world.service.fail({
      type: 'errors',
      errors: [error(1), error(1), error(9), error(-1), error(0.5), { type: 'no index' }, 'text', null],
    });
    await tab.captureMany(3);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 2, pending: 1 });
    expect(tab.getNotices('rejected').map(({ event }) => event.bannerId)).toEqual(['b1']);
    expect(tab.getNotices('failed').filter(({ kind }) => kind === 'protocol').length).toBeGreaterThanOrEqual(
      7,
    );
  });

  test('case 11: reports a count that does not match, and does not resend events', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'errors', errors: [], processed: 1 });
    await tab.captureMany(3);
    await tab.delivery.flush();
    await world.clock.advance(HOUR_MS);
    expect(world.service.requests).toHaveLength(1);
    expect(tab.getNotices('failed')).toMatchObject([
      { kind: 'protocol', message: expect.stringMatching(/events_processed: .* got 1/) },
    ]);
  });

  test('case 12: calls onEventRejected() for every event that a 400 lists, without endless retries of unchanged events', async () => {
    const world = createWorld();
    const tab = world.openTab({
      onEventRejected: (event) => (event.bannerId === 'b0' ? { ...event, bannerId: 'ok' } : event),
    });
    world.service.fail(
      {
        type: 'status',
        status: 400,
        body: {
          message: 'No valid events provided.',
          errors: [
            { type: 'x', index: 0 },
            { type: 'y', index: 1 },
          ],
        },
      },
      { times: 1 },
    );
    world.service.fail({ type: 'skip', indices: [0] }, { times: 2, when: ({ count }) => count > 1 });
    await tab.captureMany(2);
    await tab.delivery.flush();
    await world.clock.advance(HOUR_MS);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ delivered: 1, deadLetters: 1, pending: 0 });
    expect(world.sent()).toEqual([['b0', 'b1'], ['ok'], ['b1'], ['b1']]);
  });

  test('case 13: a 400 without errors never drops a whole batch', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const lift = world.service.fail({ type: 'status', status: 400 }, { times: 3 });
    await tab.captureMany(6);
    await tab.delivery.flush();
    lift();
    await tab.delivery.flush();
    const diagnostics = await tab.delivery.diagnostics();
    assertConserved(diagnostics);
    expect(diagnostics.delivered).toBeGreaterThanOrEqual(5);
    expect(diagnostics.delivered + diagnostics.deadLetters).toBe(6);
  });

  test('case 13: backs off from a server that rejects every request without event errors, then delivers the events', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const lift = world.service.fail({ type: 'status', status: 400 }, { times: Number.POSITIVE_INFINITY });
    await tab.captureMany(200);
    await tab.delivery.flush();
    expect(world.service.requests.length).toBeLessThanOrEqual(10);
    expect(tab.getNotices('paused')).toMatchObject([{ reason: 'backoff' }]);
    await world.clock.advance(HOUR_MS);
    expect(world.service.requests.length).toBeLessThanOrEqual(250);
    lift();
    await world.clock.advance(HOUR_MS);
    const diagnostics = await tab.delivery.diagnostics();
    expect(diagnostics).toMatchObject({ captured: 200, pending: 0 });
    assertConserved(diagnostics);
    expect(diagnostics.delivered).toBeGreaterThanOrEqual(160);
  });

  test.each([0, 1, 5, 7, 31, 49])(
    'case 14: a poison event at %i costs the other events at most two requests per halving',
    async (poison) => {
      const world = createWorld();
      const tab = world.openTab();
      const hasPoison = (body: unknown) =>
        (body as { events: { id: string }[] }).events.some(({ id }) => id === `b${poison}`);
      world.service.fail(
        { type: 'status', status: 400 },
        { times: Number.POSITIVE_INFINITY, when: ({ body }) => hasPoison(body) },
      );
      await tab.captureMany(50);
      await tab.delivery.flush();
      expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 49, deadLetters: 1, pending: 0 });
      expect(await tab.delivery.deadLetters()).toMatchObject([{ event: { bannerId: `b${poison}` } }]);
      const untilOthers = 1 + world.service.requests.findLastIndex(({ status }) => status === 202);
      expect(untilOthers).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(50)));
    },
  );

  test('case 14: isolates several poison events and delivers the others', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const poison = ['b3', 'b4', 'b20', 'b49'];
    world.service.fail(
      { type: 'status', status: 400 },
      {
        times: Number.POSITIVE_INFINITY,
        when: ({ body }) =>
          (body as { events: { id: string }[] }).events.some(({ id }) => poison.includes(id)),
      },
    );
    await tab.captureMany(50);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 46, deadLetters: 4, pending: 0 });
    expect((await tab.delivery.deadLetters()).map(({ event }) => event.bannerId)).toEqual(poison);
  });

  test.each([401, 403])(
    'case 15: after a %i, does not send events until there is a new key, and does not lose events',
    async (status) => {
      const world = createWorld();
      let key = 'old-key';
      let asked = 0;
      const tab = world.openTab({
        apiKey: () => {
          asked += 1;
          return key;
        },
      });
      world.service.fail(
        { type: 'status', status },
        { times: Number.POSITIVE_INFINITY, when: () => key === 'old-key' },
      );
      await tab.captureMany(3);
      await tab.delivery.flush();
      await tab.captureMany(3);
      await world.clock.advance(30 * 60_000);
      expect(world.service.requests).toHaveLength(1);
      expect(asked).toBeGreaterThan(1);
      expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 6 });
      key = 'client-key';
      tab.tell('visible');
      await world.clock.advance(10_000);
      expect(await tab.delivery.diagnostics()).toMatchObject({
        delivered: 6,
        pending: 0,
        pausedUntil: null,
      });
    },
  );

  test('case 15: a page with another key resumes sending at once', async () => {
    const world = createWorld();
    const before = world.openTab({ apiKey: 'rotated' });
    await before.capture();
    await before.delivery.flush();
    before.kill();
    const after = world.openTab();
    await world.clock.advance(10_000);
    expect(world.service.requests.map(({ status }) => status)).toEqual([401, 202]);
    expect(await after.delivery.diagnostics()).toMatchObject({ delivered: 1 });
  });

  test('case 16: keeps events queued after a 404, and retries four times an hour', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const lift = world.service.fail({ type: 'status', status: 404 }, { times: Number.POSITIVE_INFINITY });
    await tab.captureMany(3);
    await tab.delivery.flush();
    await world.clock.advance(2 * HOUR_MS);
    expect(world.service.requests.length).toBeLessThanOrEqual(9);
    expect(await tab.delivery.diagnostics()).toMatchObject({ pending: 3 });
    expect(tab.getNotices('failed')[0]).toMatchObject({ kind: 'not-found' });
    lift();
    await world.clock.advance(HOUR_MS / 2);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 3 });
  });

  test.each<RateLimitForm>(['banners', 'users-track', 'retry-after', 'retry-after-date', 'reset'])(
    'case 17: after a 429 with %s headers no tab sends before the time',
    async (form) => {
      const world = createWorld();
      const [first, second] = [world.openTab(), world.openTab()];
      world.service.fail({ type: 'rate-limit', afterSeconds: 120, form });
      const start = world.clock.now();
      await first.capture('a');
      await first.delivery.flush();
      await second.capture('b');
      await second.delivery.flush();
      first.tell('online');
      second.tell('visible');
      const late = world.openTab();
      await late.capture('c');
      await world.clock.advance(118_000);
      expect(world.service.requests).toHaveLength(1);
      await world.clock.advance(10_000);
      expect(world.service.requests.length).toBeGreaterThan(1);
      expect(world.service.requests[1]!.at - start).toBeGreaterThanOrEqual(119_000);
      expect(world.service.events).toHaveLength(3);
    },
  );

  test.each<Fault>([
    { type: 'slow', delayMs: 200 },
    { type: 'status', status: 503 },
    { type: 'status', status: 401 },
    { type: 'drop', when: 'after' },
    { type: 'rate-limit', afterSeconds: 5 },
  ])(
    'case 17: another response in flight (%j) neither ends nor shortens the wait of a 429',
    async (other) => {
      const world = createWorld();
      const tab = world.openTab();
      await tab.capture('warm');
      await tab.delivery.flush();
      await tab.captureMany(2, 'click', 'u1');
      await tab.captureMany(2, 'click', 'u2');
      world.service.fail({ type: 'rate-limit', afterSeconds: 600 });
      world.service.fail(other);
      tab.tell('hidden');
      await world.clock.advance(1_000);
      expect(world.service.requests).toHaveLength(3);
      tab.tell('visible');
      await world.clock.advance(595_000);
      expect(world.service.requests).toHaveLength(3);
      await world.clock.advance(HOUR_MS);
      expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 5, delivered: 5 });
      expect(world.service.events).toHaveLength(5);
    },
  );

  test.each([
    { 'X-RateLimit-Reset': '30' },
    { 'X-RateLimit-Reset': '1600000000' },
    { 'Retry-After': '0' },
    { 'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT' },
    { 'X-RateLimit-Retry-After': 'soon' },
  ])('case 17: backs off after a 429 with %j, which has no future time', async (headers) => {
    const world = createWorld();
    const tab = world.openTab({ random: () => 0.5 });
    world.service.fail({ type: 'status', status: 429, headers }, { times: Number.POSITIVE_INFINITY });
    await tab.capture();
    await tab.delivery.flush();
    await world.clock.advance(60_000);
    expect(world.service.requests.length).toBeGreaterThan(2);
    expect(world.service.requests.length).toBeLessThan(10);
  });

  test('case 18: backs off with full jitter after a 429 whose headers are hidden', async () => {
    const waits = [];
    for (const share of [0, 0.5, 1]) {
      const world = createWorld();
      const tab = world.openTab({ random: () => share });
      world.service.fail(
        { type: 'rate-limit', afterSeconds: 1, form: 'hidden' },
        { times: Number.POSITIVE_INFINITY },
      );
      await tab.capture();
      await tab.delivery.flush();
      await world.clock.advance(HOUR_MS);
      const times = world.service.requests.map(({ at }) => at);
      waits.push(times.at(-1)! - times.at(-2)!);
    }
    expect(waits).toEqual([30_000, 165_000, 300_000]);
  });

  test('case 19: six hours of 5xx cause few requests and no losses, and the queue drains in order', async () => {
    const world = createWorld();
    const tab = world.openTab({ random: () => 0 });
    const lift = world.service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
    for (let round = 0; round < 12; round += 1) {
      await tab.captureMany(10);
      await world.clock.advance(HOUR_MS / 2);
    }
    const during = world.service.requests.length;
    expect(during / 6).toBeLessThanOrEqual(125);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 120, delivered: 0, deadLetters: 0 });
    lift();
    await world.clock.advance(HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ captured: 120, delivered: 120, deadLetters: 0 });
    assertDeliveredInOrder(world.service.events);
  });

  test('case 19: an event that always causes a server error does not block other events and is not dropped', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const isPoison = (body: unknown) =>
      (body as { events: { id: string }[] }).events.some(({ id }) => id === 'b7');
    const lift = world.service.fail(
      { type: 'status', status: 500 },
      { times: Number.POSITIVE_INFINITY, when: ({ body }) => isPoison(body) },
    );
    await tab.captureMany(50);
    await world.clock.advance(HOUR_MS / 2);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 49, pending: 1, deadLetters: 0 });
    expect(world.service.requests.length).toBeLessThan(30);
    lift();
    await world.clock.advance(HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 50, pending: 0 });
  });

  test('case 21: a captive portal that returns 200 with a page does not delete events', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'captive-portal' }, { times: 3 });
    await tab.captureMany(3);
    await tab.delivery.flush();
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 0, pending: 3, inDoubt: 0 });
    await world.clock.advance(HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 3 });
    expect(world.service.events).toHaveLength(3);
  });

  test.each([false, true])(
    'case 21: treats a truncated response (connection broken: %s) as in doubt, not as a confirmation',
    async (broken) => {
      const world = createWorld();
      const tab = world.openTab();
      world.service.fail({ type: 'truncate', broken });
      await tab.captureMany(2);
      await tab.delivery.flush();
      expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 0, inDoubt: 2, pending: 0 });
      await world.clock.advance(60_000);
      expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 2, inDoubt: 0 });
      expect(world.service.requests[0]!.text).toBe(world.service.requests[1]!.text);
    },
  );

  test('case 22: a 413 splits the batch, and rejects a single oversized event once', async () => {
    const world = createWorld();
    const tab = world.openTab();
    const size = (body: unknown) => (body as { events: { id: string }[] }).events;
    world.service.fail(
      { type: 'status', status: 413 },
      {
        times: Number.POSITIVE_INFINITY,
        when: ({ body }) => size(body).length > 3 || size(body).some(({ id }) => id === 'b6'),
      },
    );
    await tab.captureMany(8);
    await tab.delivery.flush();
    await world.clock.advance(HOUR_MS);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 7, deadLetters: 1, pending: 0 });
    expect(await tab.delivery.deadLetters()).toMatchObject([{ event: { bannerId: 'b6' } }]);
    expect(world.sent().filter((ids) => ids.length === 1 && ids[0] === 'b6')).toHaveLength(1);
  });

  test('case 23: does not send the key to another origin after a redirect, and keeps the event', async () => {
    const world = createWorld();
    const tab = world.openTab();
    world.service.fail({ type: 'redirect', to: 'http://evil.test/collect' });
    await tab.capture();
    await tab.delivery.flush();
    expect(world.options.every(({ redirect }) => redirect === 'error')).toBe(true);
    const { delivered, pending, inDoubt } = await tab.delivery.diagnostics();
    expect([delivered, pending + inDoubt]).toEqual([0, 1]);
    await world.clock.advance(60_000);
    expect(await tab.delivery.diagnostics()).toMatchObject({ delivered: 1 });
  });
});
