// @vitest-environment node
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../../src/client/delivery/backoff.ts';
import { afterDelivery, afterRefusal, type Search } from '../../../src/client/delivery/bisect.ts';
import { deliveryOptions } from '../../../src/client/delivery/delivery-options.ts';
import { createEventBuffer } from '../../../src/client/delivery/event-buffer.ts';
import { createEventClock, stamp } from '../../../src/client/delivery/event-time.ts';
import { judgeErrors } from '../../../src/client/delivery/judge-errors.ts';
import { createKeepaliveBudget } from '../../../src/client/delivery/keepalive-budget.ts';
import { planLastFlush } from '../../../src/client/delivery/plan-last-flush.ts';
import { type Kept, newMeta, type StoredEvent, VERSION } from '../../../src/client/delivery/records.ts';
import { trackBody } from '../../../src/client/delivery/track-body.ts';
import type { Notice } from '../../../src/client/notice.ts';
import { createKeyring, fingerprint } from '../../../src/client/platform/keyring.ts';
import { createVirtualClock } from '../../../src/testing/index.ts';
import fc from '../../helpers/property.ts';

const anEvent = (change: Partial<StoredEvent> = {}): StoredEvent => ({
  v: VERSION,
  type: 'click',
  bannerId: 'b1',
  placementId: 'p1',
  userId: 'u1',
  time: Date.UTC(2026, 2, 1, 9, 20, 1, 250),
  appId: 'app',
  appVersion: '1',
  attempts: 0,
  ...change,
});

describe('backoff', () => {
  test('doubles its ceiling up to five minutes', () => {
    const ceilings = [1, 2, 3, 8, 9, 50].map((failures) => backoffMs(failures, () => 1));
    expect(ceilings).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  });
  test('jitters over nearly all of it, and never under a tenth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, share) => {
          const ceiling = backoffMs(failures, () => 1);
          const wait = backoffMs(failures, () => share);
          expect(wait).toBeGreaterThanOrEqual(ceiling / 10 - 1);
          expect(wait).toBeLessThanOrEqual(ceiling);
        },
      ),
    );
  });
});

describe('the search for a poison event', () => {
  /** Plays a server that refuses any request with a poison event; answers what was delivered, and the requests. */
  const play = (count: number, poison: Set<number>) => {
    const open: Search<number>[] = [
      { keys: Array.from({ length: count }, (_, i) => i), held: [], suspects: [] },
    ];
    const delivered: number[] = [];
    const rejected: number[] = [];
    let requests = 0;
    let untilOthers = 0;
    while (open.length > 0) {
      open.sort((a, b) => Number(a.suspects.length > 0) - Number(b.suspects.length > 0));
      const search = open.shift()!;
      requests += 1;
      if (!search.keys.some((key) => poison.has(key))) {
        delivered.push(...search.keys);
        untilOthers = requests;
        if (search.held.length > 0) open.push(afterDelivery(search));
      } else if (search.keys.length === 1) {
        rejected.push(search.keys[0]!);
        // What was held goes back to the queue.
        if (search.held.length > 0) open.push({ keys: search.held, held: [], suspects: [] });
      } else {
        const { next, trusted } = afterRefusal(search);
        open.push(next);
        if (trusted.length > 0) open.push({ keys: trusted, held: [], suspects: [] });
      }
    }
    return { delivered, rejected, requests, untilOthers };
  };

  test('case 14: finds any one within log₂(n) requests beside the first and the last', () => {
    for (let count = 2; count <= 64; count += 1) {
      for (let poison = 0; poison < count; poison += 1) {
        const { delivered, rejected, untilOthers } = play(count, new Set([poison]));
        expect(rejected).toEqual([poison]);
        expect(delivered).toHaveLength(count - 1);
        expect(untilOthers).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(count)) + 1);
      }
    }
  });

  test('ends for any number of them, delivers every other one once, and rejects each alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.uniqueArray(fc.nat(49)), (count, poison) => {
        const bad = new Set(poison.filter((i) => i < count));
        const { delivered, rejected } = play(count, bad);
        expect(new Set(rejected)).toEqual(bad);
        expect([...delivered].sort((a, b) => a - b)).toEqual(
          Array.from({ length: count }, (_, i) => i).filter((i) => !bad.has(i)),
        );
      }),
    );
  });
});

describe('errors of an answer', () => {
  test('case 10: whatever they are, no event is named twice or outside the batch, and nothing is silently ignored', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.anything(),
            fc.record({ index: fc.oneof(fc.integer({ min: -2, max: 8 }), fc.double()), type: fc.anything() }),
          ),
        ),
        fc.integer({ min: 1, max: 6 }),
        (errors, length) => {
          const { skipped, problems } = judgeErrors(errors, length);
          const indexes = skipped.map(({ index }) => index);
          expect(new Set(indexes).size).toBe(indexes.length);
          expect(indexes.every((index) => Number.isInteger(index) && index >= 0 && index < length)).toBe(
            true,
          );
          expect(skipped.length + problems.length).toBe(errors.length);
          expect(skipped.every(({ reason }) => typeof reason === 'string')).toBe(true);
        },
      ),
    );
  });
});

describe('event time', () => {
  test('gives no natural key the same time twice, and keeps the order of the calls', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1_000, max: 1_020 }), fc.constantFrom('a', 'b', 'c')), {
          maxLength: 300,
        }),
        (calls) => {
          const meta = newMeta('e', 0);
          const stamped = calls.map(([at, key]) => ({ key, at, time: stamp(meta, at, key) }));
          expect(new Set(stamped.map(({ key, time }) => `${key} ${time}`)).size).toBe(calls.length);
          for (const [i, { at, time }] of stamped.entries()) {
            expect(time).toBeGreaterThanOrEqual(at);
            if (i > 0) expect(time).toBeGreaterThanOrEqual(stamped[i - 1]!.time);
          }
        },
      ),
    );
  });

  test('does not follow for ever a clock that was years ahead once', () => {
    const meta = newMeta('e', 0);
    const now = Date.UTC(2026, 0, 1);
    stamp(meta, Date.UTC(2099, 0, 1), 'a');
    expect(stamp(meta, now, 'a')).toBe(now);
  });

  test.each([0, 1_000])(
    'is right again where the clock was days ahead for a while, and gives no time twice (%d ms later)',
    (laterMs) => {
      const meta = newMeta('e', 0);
      const now = Date.UTC(2026, 0, 1);
      stamp(meta, now, 'a');
      for (const key of ['a', 'b', 'a']) stamp(meta, now + 2 * 24 * 60 * 60_000, key);
      const times = ['a', 'b', 'a'].map((key) => stamp(meta, now + laterMs, key));
      expect(times).toEqual(
        laterMs === 0 ? [now + 1, now + 1, now + 2] : [now + 1_000, now + 1_000, now + 1_001],
      );
    },
  );

  test('takes a leap of the device back with it, and then counts on from before', () => {
    const clock = createVirtualClock(1_000_000);
    const now = createEventClock(clock);
    clock.jump(48 * 60 * 60_000);
    expect(now()).toBe(1_000_000 + 48 * 60 * 60_000);
    clock.jump(-48 * 60 * 60_000);
    expect(now()).toBe(1_000_000);
    clock.jump(-500_000);
    expect(now()).toBe(1_000_000);
  });

  test('follows the device forwards, after a sleep, and not backwards', () => {
    const clock = createVirtualClock(1_000_000);
    const now = createEventClock(clock);
    expect(now()).toBe(1_000_000);
    clock.jump(-500_000);
    expect(now()).toBe(1_000_000);
    clock.jump(500_000 + 8 * 60 * 60_000);
    expect(now()).toBe(1_000_000 + 8 * 60 * 60_000);
  });
});

describe('the keepalive budget', () => {
  test('counts what is in flight, and gives it back once', () => {
    const budget = createKeepaliveBudget(() => 0);
    const first = budget.take(50_000, false)!;
    expect(budget.take(10_001, true)).toBeUndefined();
    expect(budget.take(10_000, true)).toBeDefined();
    first();
    first();
    expect(budget.left()).toBe(50_000);
  });

  test('is halved by a refusal down to a floor, and recovers', () => {
    const budget = createKeepaliveBudget(() => 0);
    budget.refused();
    expect(budget.left()).toBe(30_000);
    for (let i = 0; i < 10; i += 1) budget.refused();
    expect(budget.left()).toBe(4_000);
    for (let i = 0; i < 10; i += 1) budget.recover();
    expect(budget.left()).toBe(60_000);
  });

  test('after a refusal a page that stays does without for a minute, one that goes does not', async () => {
    const clock = createVirtualClock();
    const budget = createKeepaliveBudget(clock.monotonic);
    budget.refused();
    expect(budget.take(100, false)).toBeUndefined();
    expect(budget.take(100, true)).toBeDefined();
    await clock.advance(60_000);
    expect(budget.take(100, false)).toBeDefined();
  });
});

describe('the plan of the last flush', () => {
  const kept = (count: number, type: StoredEvent['type'], userId = 'u1', from = 0): Kept[] =>
    Array.from({ length: count }, (_, i) => {
      const event = anEvent({ type, userId, bannerId: `${type}-${i}`, time: 1_700_000_000_000 + from + i });
      return { key: ['event', VERSION, event.time, from + i], event };
    });
  const sameGroup = (a: StoredEvent, b: StoredEvent) => a.userId === b.userId;

  test('case 27: takes what is worth most, oldest first, and never more than the budget', () => {
    fc.assert(
      fc.property(
        fc.nat(200),
        fc.nat(30),
        fc.nat(30),
        fc.integer({ min: 0, max: 20_000 }),
        (impressions, clicks, dismissals, budgetBytes) => {
          const waiting = [
            ...kept(impressions, 'impression'),
            ...kept(clicks, 'click', 'u2', 500),
            ...kept(dismissals, 'dismiss', 'u1', 800),
          ];
          const plan = planLastFlush(waiting, { budgetBytes, maxBatch: 50, sameGroup });
          const bytes = plan.reduce((sum, batch) => sum + new TextEncoder().encode(batch.body).length, 0);
          expect(bytes).toBeLessThanOrEqual(budgetBytes);
          const taken = plan.flatMap((batch) => batch.kept.map(({ event }) => event.type));
          const count = (type: string) => taken.filter((each) => each === type).length;
          if (count('impression') > 0) expect(count('dismiss')).toBe(dismissals);
          for (const { kept: items, body } of plan) {
            expect(items.length).toBeLessThanOrEqual(50);
            expect(new Set(items.map(({ event }) => event.userId)).size).toBe(1);
            expect(body).toBe(trackBody(items.map(({ event }) => event)));
            const times = items.map(({ event }) => event.time);
            expect([...times].sort((a, b) => a - b)).toEqual(times);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the key', () => {
  test('is asked for once by those who wait together, and again after it was forgotten', async () => {
    let asked = 0;
    const keyring = createKeyring(async () => {
      asked += 1;
      return `key-${asked}`;
    }, createVirtualClock().after);
    expect(keyring.current()).toBeUndefined();
    expect(await Promise.all([keyring.ask(), keyring.ask()])).toEqual(['key-1', 'key-1']);
    expect(keyring.current()).toBe('key-1');
    keyring.forget();
    expect(await keyring.ask()).toBe('key-2');
  });

  test('that does not come is an error after ten seconds, and can be asked for again', async () => {
    const clock = createVirtualClock();
    let answer: Promise<string> = new Promise(() => undefined);
    const keyring = createKeyring(() => answer, clock.after);
    const asking = expect(keyring.ask()).rejects.toThrow('within 10000 ms');
    await clock.advance(10_000);
    await asking;
    answer = Promise.resolve('key');
    expect(await keyring.ask()).toBe('key');
  });

  test.each([[() => ''], [() => undefined as unknown as string], [() => Promise.reject(new Error('no'))]])(
    'must be a text: %s is an error',
    async (provide) => {
      await expect(createKeyring(provide, createVirtualClock().after).ask()).rejects.toThrow();
    },
  );

  test('is known again by a fingerprint that does not show it', () => {
    expect(fingerprint('client-key')).toBe(fingerprint('client-key'));
    expect(fingerprint('client-key')).not.toBe(fingerprint('client-kez'));
    expect(fingerprint('client-key')).not.toContain('client');
  });
});

describe('the options', () => {
  const untold = (notice: Notice) => expect.fail(JSON.stringify(notice));

  test('that the host leaves undefined are the defaults, inside of "inDoubt" as well', () => {
    const chosen = {
      timeoutMs: undefined,
      maxBatch: undefined,
      maxWaitMs: 0,
      inDoubt: { impression: undefined, click: 'at-most-once' },
    };
    expect(deliveryOptions(chosen as never, untold)).toEqual({
      ...deliveryOptions({}, untold),
      maxWaitMs: 0,
      inDoubt: { impression: 'at-least-once', click: 'at-most-once', dismiss: 'at-least-once' },
    });
    expect(deliveryOptions({ inDoubt: undefined } as never, untold)).toEqual(deliveryOptions({}, untold));
  });

  test.each([
    [{ timeoutMs: 0 }, '"delivery.timeoutMs" must be a number from 1 up'],
    [{ timeoutMs: Number.NaN }, '"delivery.timeoutMs" must be a number from 1 up'],
    [{ maxBatch: 0 }, '"delivery.maxBatch" must be a number from 1 up'],
    [{ maxBatch: -1 }, '"delivery.maxBatch" must be a number from 1 up'],
    [{ maxBatch: '5' }, '"delivery.maxBatch" must be a number from 1 up'],
    [{ maxEvents: 0 }, '"delivery.maxEvents" must be a number from 1 up'],
    [{ maxWaitMs: -5 }, '"delivery.maxWaitMs" must be a number from 0 up'],
    [{ maxAgeMs: null }, '"delivery.maxAgeMs" must be a number from 1 up'],
    [{ maxWaitMS: 5_000 }, '"delivery.maxWaitMS" must be left out: it is unknown'],
    [{ toString: 1 }, '"delivery.toString" must be left out: it is unknown'],
    [{ inDoubt: { click: 'never' } }, '"delivery.inDoubt.click" must be at-least-once or at-most-once'],
    [{ inDoubt: { clicks: 'at-most-once' } }, '"delivery.inDoubt.clicks" must be left out: it is unknown'],
  ])('that cannot be used, such as %j, are told by their names and stay the defaults', (chosen, problem) => {
    const told: Notice[] = [];
    const options = deliveryOptions(chosen as never, (notice) => told.push(notice));
    expect(options).toEqual(deliveryOptions({}, untold));
    expect(told).toEqual([{ type: 'failed', kind: 'config', message: `Option ${problem}` }]);
  });

  test('without a limit are options too', () => {
    const chosen = { maxEvents: Number.POSITIVE_INFINITY, maxAgeMs: Number.POSITIVE_INFINITY };
    expect(deliveryOptions(chosen, untold)).toMatchObject(chosen);
  });
});

describe('the event buffer', () => {
  test('with a warm preflight events wait their time, with a cold one for a pause', async () => {
    const clock = createVirtualClock();
    const due: boolean[] = [];
    const buffer = createEventBuffer({ clock, maxWaitMs: 5_000, onDue: (early) => due.push(early) });
    for (let i = 0; i < 10; i += 1) {
      buffer.added();
      await clock.advance(200);
    }
    expect(due).toEqual([]);
    await clock.advance(50);
    expect(due).toEqual([true]);
    buffer.answered();
    await clock.advance(10_000);
    due.length = 0;
    buffer.added();
    await clock.advance(4_999);
    expect(due).toEqual([]);
    await clock.advance(1);
    expect(due).toEqual([false]);
    buffer.added();
    buffer.stop();
    expect(clock.pending()).toBe(0);
  });

  test('of two times the earlier one counts', async () => {
    const clock = createVirtualClock();
    const due: number[] = [];
    const start = clock.now();
    const buffer = createEventBuffer({ clock, maxWaitMs: 5_000, onDue: () => due.push(clock.now() - start) });
    buffer.at(start + 3_000);
    buffer.at(start + 9_000);
    buffer.at(start + 1_000);
    await clock.advance(20_000);
    expect(due).toEqual([1_000]);
  });
});
