import { expect, test } from 'vitest';
import type { DeliveryContext } from '../../../../src/client/delivery/delivery.ts';
import { getNextPause } from '../../../../src/client/delivery/trouble/outcome-handler.ts';
import type { Outcome } from '../../../../src/client/delivery/trouble/response.ts';
import { sharedFunctions } from '../../../../src/client/delivery/trouble/shared-functions.ts';
import { noPause, type Pause } from '../../../../src/client/platform/pauses.ts';

const NOW = 1_000_000;
const context = { clock: { now: () => NOW }, random: () => 0.5 } as DeliveryContext;
const failure = { kind: 'delivery', message: '' } as const;
const confirmed: Outcome = { type: 'confirmed', itemErrors: [], problems: [] };
const refused: Outcome = {
  type: 'rejected',
  itemErrors: [],
  problems: [],
  isTooLarge: false,
  reason: '',
  failure,
};
const limited: Pause = { reason: 'rate-limit', until: NOW + 60_000, failures: 1, isServerMandated: true };
const refusedOften = (failures: number): Pause => ({ ...noPause(), failures });

test('an accepted batch ends a backoff, but not a pause that the service requested', () => {
  const backingOff: Pause = { ...noPause(), until: NOW + 5_000, failures: 3 };
  expect(getNextPause(sharedFunctions, context, backingOff, confirmed)).toEqual(noPause());
  expect(getNextPause(sharedFunctions, context, limited, confirmed)).toBe(limited);
});

test('a response with any status keeps a requested pause', () => {
  const asked: Outcome = { type: 'retry', pause: { reason: 'backoff', requestedMs: 120_000 } };
  for (const before of [noPause(), limited]) {
    const pause = getNextPause(sharedFunctions, context, before, asked);
    expect(getNextPause(sharedFunctions, context, pause, confirmed)).toMatchObject({
      until: NOW + 120_000,
      isServerMandated: true,
    });
  }
});

test('a failure pauses all tabs', () => {
  const asked: Outcome = { type: 'retry', pause: { reason: 'rate-limit', requestedMs: 7_000 } };
  expect(getNextPause(sharedFunctions, context, noPause(), asked)).toMatchObject({
    until: NOW + 7_000,
    reason: 'rate-limit',
  });
  const lost: Outcome = { type: 'in-doubt', pause: { reason: 'backoff' }, failure };
  expect(getNextPause(sharedFunctions, context, noPause(), lost)).toMatchObject({
    reason: 'backoff',
    failures: 1,
  });
});

test('an outcome without a pause does not change the state', () => {
  expect(getNextPause(sharedFunctions, context, limited, { type: 'retry' })).toBe(limited);
  const named: Outcome = { ...refused, itemErrors: [{ index: 0, reason: 'unknown banner' }] };
  expect(getNextPause(sharedFunctions, context, limited, named)).toBe(limited);
});

test('counts rejections without event errors, and pauses all tabs after the eighth in a row', () => {
  expect(getNextPause(sharedFunctions, context, refusedOften(6), refused)).toEqual(refusedOften(7));
  const eighth = getNextPause(sharedFunctions, context, refusedOften(7), refused);
  expect(eighth).toMatchObject({ reason: 'backoff', failures: 8 });
  expect(eighth.until).toBeGreaterThan(NOW);
  expect(getNextPause(sharedFunctions, context, { ...limited, failures: 2 }, refused)).toEqual({
    ...limited,
    failures: 3,
  });
});
