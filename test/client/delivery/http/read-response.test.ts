import { describe, expect, test } from 'vitest';
import { parseItemErrors, readResponse } from '../../../../src/client/delivery/trouble/response.ts';
import { sharedFunctions } from '../../../../src/client/delivery/trouble/shared-functions.ts';
import fc from '../../../helpers/property.ts';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 0);
const HOUR_MS = 60 * 60_000;

/** Outcome of a batch of two events for the given response. */
const answered = (status: number, body: unknown, more = {}) => {
  const headers = new Headers({ 'content-type': 'application/json', ...more });
  return readResponse(
    sharedFunctions,
    { url: 'http://placard.test/track', status, headers, text: JSON.stringify(body) },
    2,
    NOW,
  );
};

test.each([{}, 'none', 3])(
  'a 202 whose errors are not a list (%j) is in doubt, unless it counts all events',
  (errors) => {
    expect(answered(202, { message: 'success', errors })).toMatchObject({ type: 'in-doubt' });
    expect(answered(202, { events_processed: 1, errors })).toMatchObject({ type: 'in-doubt' });
    expect(answered(202, { events_processed: 2, errors })).toMatchObject({
      type: 'confirmed',
      itemErrors: [],
      problems: [expect.stringContaining('not a list')],
    });
  },
);

test.each([
  { events_processed: 2 },
  { message: 'success', errors: null },
  { message: 'success', events_processed: null },
])('a 202 with only %j confirms every event', (body) => {
  expect(answered(202, body)).toEqual({ type: 'confirmed', itemErrors: [], problems: [] });
});

test.each([
  [200, { message: 'Please log in' }],
  [200, {}],
  [200, { message: 'success', events_processed: null }],
  [200, []],
  [299, { message: 'success' }],
])('case 21: a %i with the foreign JSON %j does not confirm events', (status, body) => {
  expect(answered(status, body)).toMatchObject({ type: 'retry' });
});

test('recognizes a 200 that counts the events as an API response', () => {
  expect(answered(200, { events_processed: 2 })).toMatchObject({ type: 'confirmed' });
});

test('a response without errors confirms every event', () => {
  expect(answered(202, { message: 'success', events_processed: 2 })).toEqual({
    type: 'confirmed',
    itemErrors: [],
    problems: [],
  });
});

test.each([[[]], ['welcome'], [3]])(
  'a 202 with the body %j is in doubt, because a proxy may hide an accepted batch',
  (body) => {
    expect(answered(202, body)).toMatchObject({ type: 'in-doubt' });
  },
);

test('treats a 408 as a slow request, not as an invalid one', () => {
  expect(answered(408, { message: 'Request Timeout' })).toMatchObject({ type: 'retry' });
});

test.each([
  [401, 'unauthorized', 60 * 60_000],
  [403, 'unauthorized', 60 * 60_000],
  [404, 'not-found', 15 * 60_000],
])('a %i makes the sender wait and does not reject events', (status, reason, ms) => {
  const outcome = answered(status, { message: 'No' });
  expect(outcome).toMatchObject({
    type: 'retry',
    pause: { reason, requestedMs: ms },
    failure: { kind: reason, message: `HTTP ${status} from http://placard.test/track: No` },
  });
});

test.each([400, 405, 413, 422])(
  'a %i rejects the events in its errors, or all events if it has none',
  (status) => {
    const errors = [{ index: 1, type: 'odd' }];
    const failure = { kind: 'delivery', message: `HTTP ${status} from http://placard.test/track` };
    expect(answered(status, { errors })).toMatchObject({
      type: 'rejected',
      itemErrors: [{ index: 1 }],
      failure,
    });
    expect(answered(status, null)).toMatchObject({
      type: 'rejected',
      isTooLarge: status === 413,
      itemErrors: [],
    });
  },
);

test.each([400, 407, 451])(
  'treats a %i without JSON as a proxy response and does not reject events',
  (status) => {
    const outcome = answered(status, 'No', { 'content-type': 'text/html' });
    expect(outcome).toMatchObject({ type: 'retry', pause: { reason: 'backoff' } });
  },
);

test.each([
  ['the service, which stored nothing,', 500, 'application/json', 'retry'],
  ['a proxy with an unknown outcome', 500, 'text/html', 'in-doubt'],
  ['a proxy whose upstream failed', 502, 'text/html', 'in-doubt'],
  ['a gateway that responds JSON', 502, 'application/json', 'in-doubt'],
  ['a server that has not started', 503, 'text/html', 'retry'],
  ['a gateway that timed out', 504, 'application/json', 'in-doubt'],
])('contract 2.6: from %s a %i (%s) is classified as %s', (_, status, type, outcome) => {
  expect(answered(status, { message: 'No' }, { 'content-type': type })).toMatchObject({
    type: outcome,
    pause: { reason: 'backoff' },
  });
});

test('halves the batch after a 413 from any server', () => {
  expect(answered(413, 'No', { 'content-type': 'text/html' })).toMatchObject({
    type: 'rejected',
    itemErrors: [],
  });
});

/** Headers of a response whose reset time is given by a clock ahead of the device's. */
const resetIn = (seconds: number, aheadMs: number): Record<string, string> => ({
  date: new Date(NOW + aheadMs).toUTCString(),
  'x-ratelimit-reset': String((NOW + aheadMs) / 1_000 + seconds),
});

test.each([
  [429, { 'retry-after': '7' }, { reason: 'rate-limit', requestedMs: 7_000 }],
  [429, {}, { reason: 'rate-limit', requestedMs: 0 }],
  [503, { 'retry-after': '7' }, { reason: 'backoff', requestedMs: 7_000 }],
  [503, { 'x-ratelimit-reset': '7' }, { reason: 'backoff', requestedMs: 0 }],
  // The server's clock is two hours ahead of the device's, and two hours behind.
  [429, resetIn(90, 2 * HOUR_MS), { reason: 'rate-limit', requestedMs: 90_000 }],
  [429, resetIn(90, -2 * HOUR_MS), { reason: 'rate-limit', requestedMs: 90_000 }],
])('a %i with %j waits %j', (status, headers, pause) => {
  expect(answered(status, {}, headers)).toMatchObject({ type: 'retry', pause });
});

describe('errors of a response', () => {
  test('case 10: affect each event at most once and only events of the batch, and unknown indexes are reported', () => {
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
          const { itemErrors, problems } = parseItemErrors(errors, length);
          const indexes = itemErrors.map(({ index }) => index);
          expect(new Set(indexes).size).toBe(indexes.length);
          expect(indexes.every((index) => Number.isInteger(index) && index >= 0 && index < length)).toBe(
            true,
          );
          expect(itemErrors.length + problems.length).toBe(errors.length);
          expect(itemErrors.every(({ reason }) => typeof reason === 'string')).toBe(true);
        },
      ),
    );
  });
});
