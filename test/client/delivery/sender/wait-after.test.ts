import { expect, test } from 'vitest';
import type { DeliveryContext } from '../../../../src/client/delivery/context.ts';
import { type Control, noWait } from '../../../../src/client/delivery/log/records.ts';
import type { BatchOutcome } from '../../../../src/client/delivery/sender/answer.ts';
import { waitAfter } from '../../../../src/client/delivery/sender/settle.ts';

type Wait = Control['wait'];

const NOW = 1_000_000;
const context = { clock: { now: () => NOW }, random: () => 0.5 } as DeliveryContext;
const outcome = (type: BatchOutcome['type'], rest: Partial<BatchOutcome> = {}): BatchOutcome => ({
  ...{ type, status: 0, skipped: [], problems: [] },
  ...rest,
});
const limited: Wait = { ...noWait(), reason: 'rate-limit', until: NOW + 60_000, failures: 1 };
const refusedOften = (failures: number): Wait => ({ ...noWait(), failures });

test('what the service has taken ends a backoff, but not the pause that the service asked for', () => {
  const backingOff: Wait = { ...noWait(), until: NOW + 5_000, failures: 3 };
  expect(waitAfter(context, backingOff, outcome('confirmed'))).toEqual(noWait());
  expect(waitAfter(context, limited, outcome('confirmed'))).toBe(limited);
});

test('a pause lasts as long as the service asked for, or as the backoff says', () => {
  const asked = outcome('again', { wait: { reason: 'rate-limit', ms: 7_000 } });
  expect(waitAfter(context, noWait(), asked)).toEqual({
    until: NOW + 7_000,
    reason: 'rate-limit',
    failures: 1,
    endedEarly: false,
  });
  const first = waitAfter(context, noWait(), outcome('in-doubt', { wait: { reason: 'backoff' } }));
  const later = waitAfter(context, refusedOften(4), outcome('in-doubt', { wait: { reason: 'backoff' } }));
  expect(first.until).toBeGreaterThan(NOW);
  expect(later.until).toBeGreaterThan(first.until);
  expect(later.failures).toBe(5);
});

test('a pause that the service asked for is only replaced by a longer one that it asks for', () => {
  const backoff = outcome('again', { wait: { reason: 'backoff', ms: 90_000 } });
  expect(waitAfter(context, limited, backoff)).toEqual({ ...limited, failures: 2 });
  const shorter = outcome('again', { wait: { reason: 'rate-limit', ms: 10_000 } });
  expect(waitAfter(context, limited, shorter)).toEqual({ ...limited, failures: 2 });
  const longer = outcome('again', { wait: { reason: 'rate-limit', ms: 90_000 } });
  expect(waitAfter(context, limited, longer)).toMatchObject({ until: NOW + 90_000, failures: 2 });
});

test('an outcome without a pause changes nothing', () => {
  expect(waitAfter(context, limited, outcome('again'))).toBe(limited);
  const named = outcome('refused', { skipped: [{ index: 0, reason: 'unknown banner' }] });
  expect(waitAfter(context, limited, named)).toBe(limited);
});

test('refusals that name no event are counted, and the eighth in a row makes all tabs wait', () => {
  expect(waitAfter(context, refusedOften(6), outcome('refused'))).toEqual(refusedOften(7));
  const eighth = waitAfter(context, refusedOften(7), outcome('refused'));
  expect(eighth).toMatchObject({ reason: 'backoff', failures: 8 });
  expect(eighth.until).toBeGreaterThan(NOW);
  expect(waitAfter(context, { ...limited, failures: 7 }, outcome('refused'))).toEqual({
    ...limited,
    failures: 8,
  });
});
