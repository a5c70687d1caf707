import { describe, expect, test } from 'vitest';
import type { Notice } from '../../../src/client/notices.ts';
import { deliveryOptions } from '../../../src/client/options/option-schema.ts';
import { createReportInvalid } from '../../../src/client/options/validate-options.ts';

describe('delivery options', () => {
  const untold = (option: string) => expect.fail(option);

  test('use defaults for undefined values, also inside "guarantee"', () => {
    const chosen = {
      timeoutMs: undefined,
      maxBatchSize: undefined,
      maxDelayMs: 0,
      guarantee: { impression: undefined, click: 'at-most-once' },
    };
    expect(deliveryOptions(chosen as never, untold)).toEqual({
      ...deliveryOptions({}, untold),
      maxDelayMs: 0,
      guarantee: { impression: 'at-least-once', click: 'at-most-once', dismiss: 'at-least-once' },
    });
    expect(deliveryOptions({ guarantee: undefined } as never, untold)).toEqual(deliveryOptions({}, untold));
  });

  test.each([
    [{ timeoutMs: 0 }, '"delivery.timeoutMs" must be a number from 1 to 300000'],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, '"delivery.timeoutMs" must be a number from 1 to 300000'],
    [{ timeoutMs: Number.NaN }, '"delivery.timeoutMs" must be a number from 1 to 300000'],
    [{ maxBatchSize: 0 }, '"delivery.maxBatchSize" must be a number from 1 up'],
    [{ maxBatchSize: -1 }, '"delivery.maxBatchSize" must be a number from 1 up'],
    [{ maxBatchSize: '5' }, '"delivery.maxBatchSize" must be a number from 1 up'],
    [{ maxEvents: 0 }, '"delivery.maxEvents" must be a number from 1 up'],
    [{ maxDelayMs: -5 }, '"delivery.maxDelayMs" must be a number from 0 up'],
    [{ maxAgeMs: null }, '"delivery.maxAgeMs" must be a number from 1 up'],
    [{ maxWaitMS: 5_000 }, '"delivery.maxWaitMS" must be left out: it is unknown'],
    [{ toString: 1 }, '"delivery.toString" must be left out: it is unknown'],
    [{ guarantee: { click: 'never' } }, '"delivery.guarantee.click" must be at-least-once or at-most-once'],
    [
      { guarantee: { clicks: 'at-most-once' } },
      '"delivery.guarantee.clicks" must be left out: it is unknown',
    ],
  ])('report invalid values, such as %j, by name and use the defaults', (chosen, problem) => {
    const told: Notice[] = [];
    const options = deliveryOptions(
      chosen as never,
      createReportInvalid((notice) => told.push(notice)),
    );
    expect(options).toEqual(deliveryOptions({}, untold));
    expect(told).toEqual([{ type: 'failed', kind: 'config', message: `Option ${problem}` }]);
  });

  test('accept infinity', () => {
    const chosen = { maxEvents: Number.POSITIVE_INFINITY, maxAgeMs: Number.POSITIVE_INFINITY };
    expect(deliveryOptions(chosen, untold)).toMatchObject(chosen);
  });
});
