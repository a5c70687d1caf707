import { describe, expect, test } from 'vitest';
import { judgeErrors, readAnswer } from '../../../../src/client/delivery/http/read-answer.ts';
import fc from '../../../helpers/property.ts';

/** What becomes of a batch of two events that was answered so. */
const answered = (status: number, body: unknown) => {
  const headers = new Headers({ 'content-type': 'application/json' });
  return readAnswer({ status, headers, text: JSON.stringify(body) }, 2, 0);
};

test.each([{}, 'none', 3])(
  'an answer of 202 whose errors are no list (%j) is in doubt, unless all were counted',
  (errors) => {
    expect(answered(202, { message: 'success', errors })).toMatchObject({ type: 'in-doubt' });
    expect(answered(202, { events_processed: 1, errors })).toMatchObject({ type: 'in-doubt' });
    expect(answered(202, { events_processed: 2, errors })).toMatchObject({
      type: 'accepted',
      skipped: [],
      problems: [expect.stringContaining('no list')],
    });
  },
);

test.each([
  { events_processed: 2 },
  { message: 'success', errors: null },
  { message: 'success', events_processed: null },
])('an answer of 202 with no more than %j confirms every event', (body) => {
  expect(answered(202, body)).toEqual({ type: 'accepted', skipped: [], problems: [] });
});

test.each([
  [200, { message: 'Please log in' }],
  [200, {}],
  [200, { message: 'success', events_processed: null }],
  [200, []],
  [299, { message: 'success' }],
])('case 21: a %i with the JSON %j of somebody else confirms nothing', (status, body) => {
  expect(answered(status, body)).toMatchObject({ type: 'retry', status });
});

test('an answer of 200 that counts the events is the API’s', () => {
  expect(answered(200, { events_processed: 2 })).toMatchObject({ type: 'accepted' });
});

test('an answer without errors confirms every event', () => {
  expect(answered(202, { message: 'success', events_processed: 2 })).toEqual({
    type: 'accepted',
    skipped: [],
    problems: [],
  });
});

test.each([[[]], ['welcome'], [3]])(
  'a 202 that reads %j may be of a proxy behind which the events were taken',
  (body) => {
    expect(answered(202, body)).toMatchObject({ type: 'in-doubt' });
  },
);

test('a 408 says that the request came too slowly, and not that it is wrong', () => {
  expect(answered(408, { message: 'Request Timeout' })).toMatchObject({ type: 'retry', status: 408 });
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
