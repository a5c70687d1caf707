import { expect, test } from 'vitest';
import { SCHEMA_VERSION } from '../../../../src/client/delivery/limits.ts';
import { eventValue, type LogEvent, type QueuedEvent } from '../../../../src/client/delivery/log/records.ts';
import { byTime, planBatches, trackBody } from '../../../../src/client/delivery/sender/send.ts';
import { deliveryOptions } from '../../../../src/client/options/option-schema.ts';
import { createUserTokens } from '../../../../src/client/platform/http.ts';
import fc from '../../../helpers/property.ts';

const PAGE = {
  options: deliveryOptions(undefined, () => undefined),
  userTokens: createUserTokens(undefined, Date.now, () => undefined),
};

const kept = (count: number, type: LogEvent['type'], userId = 'u1', from = 0): QueuedEvent[] =>
  Array.from({ length: count }, (_, i) => {
    const time = 1_700_000_000_000 + from + i;
    const app = { placementId: 'p1', appId: 'app', appVersion: '1' };
    const event: LogEvent = {
      v: SCHEMA_VERSION,
      type,
      bannerId: `${type}-${i}`,
      userId,
      time,
      attempts: 0,
      ...app,
    };
    return { key: ['event', SCHEMA_VERSION, time, 'tab', from + i], event };
  });

test('limits a batch to one user, one app version, one policy, and the maximum number of events', () => {
  const events = [...kept(3, 'click', 'u1'), ...kept(2, 'click', 'u2'), ...kept(2, 'impression', 'u1')];
  events[0]!.event.appVersion = '0';
  const guarantee = { ...PAGE.options.guarantee, impression: 'at-most-once' } as const;
  const page = { ...PAGE, options: { ...PAGE.options, guarantee } };
  expect(planBatches(events, 10_000, 1, page)).toHaveLength(7);
  const plan = planBatches(events, 10_000, 50, page);
  expect(plan.map((batch) => batch.length)).toEqual([1, 2, 2, 2]);
});

test('sorts events of the same millisecond by page and capture', () => {
  const [first, second, third] = kept(3, 'click') as [QueuedEvent, QueuedEvent, QueuedEvent];
  const at = (tab: string, sequence: number): QueuedEvent['key'] => [
    'event',
    SCHEMA_VERSION,
    5,
    tab,
    sequence,
  ];
  [first.key, second.key, third.key] = [at('a', 2), at('a', 10), at('b', 1)];
  expect([third, second, first].sort(byTime)).toEqual([first, second, third]);
});

test('case 27: selects the most valuable events, oldest first, within the budget', () => {
  fc.assert(
    fc.property(
      fc.nat(200),
      fc.nat(30),
      fc.nat(30),
      fc.integer({ min: 0, max: 20_000 }),
      (impressions, clicks, dismissals, maxBytes) => {
        const waiting = [
          ...kept(dismissals, 'dismiss', 'u1', 800),
          ...kept(clicks, 'click', 'u2', 500),
          ...kept(impressions, 'impression'),
        ];
        const plan = planBatches(waiting, maxBytes, 50, PAGE);
        const bodies = plan.map(trackBody);
        const bytes = bodies.reduce((sum, body) => sum + new TextEncoder().encode(body).length, 0);
        expect(bytes).toBeLessThanOrEqual(maxBytes);
        const taken = plan.flatMap((batch) => batch.map(({ event }) => event.type));
        const count = (type: string) => taken.filter((each) => each === type).length;
        if (count('impression') > 0) expect(count('dismiss')).toBe(dismissals);
        for (const items of plan) {
          expect(items.length).toBeLessThanOrEqual(50);
          expect(new Set(items.map(({ event }) => event.userId)).size).toBe(1);
          const times = items.map(({ event }) => event.time);
          expect([...times].sort((a, b) => a - b)).toEqual(times);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('ranks a dismissal above a click, and a click above an impression', () => {
  expect(eventValue('dismiss')).toBeGreaterThan(eventValue('click'));
  expect(eventValue('click')).toBeGreaterThan(eventValue('impression'));
});
