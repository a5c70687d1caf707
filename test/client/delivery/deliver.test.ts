import { expect, test } from 'vitest';
import { createDeliver } from '../../../src/client/delivery/deliver.ts';
import type { PostTrack } from '../../../src/client/delivery/post-track.ts';

const REQUEST = {} as Parameters<PostTrack>[0];

/** What becomes of a batch of two events that was answered so. */
const answered = (status: number, body: unknown) =>
  createDeliver(
    async () => ({
      status,
      headers: new Headers({ 'content-type': 'application/json' }),
      text: JSON.stringify(body),
    }),
    () => 0,
  )(REQUEST, 2);

test.each([{}, 'none', 3])(
  'an answer of 202 whose errors are no list (%j) is in doubt, unless all were counted',
  async (errors) => {
    expect(await answered(202, { message: 'success', errors })).toMatchObject({ type: 'in-doubt' });
    expect(await answered(202, { events_processed: 1, errors })).toMatchObject({ type: 'in-doubt' });
    expect(await answered(202, { events_processed: 2, errors })).toMatchObject({
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
])('an answer of 202 with no more than %j confirms every event', async (body) => {
  expect(await answered(202, body)).toEqual({ type: 'accepted', skipped: [], problems: [] });
});

test.each([
  [200, { message: 'Please log in' }],
  [200, {}],
  [200, { message: 'success', events_processed: null }],
  [200, []],
  [299, { message: 'success' }],
])('case 21: a %i with the JSON %j of somebody else confirms nothing', async (status, body) => {
  expect(await answered(status, body)).toMatchObject({ type: 'retry', status });
});

test('an answer of 200 that counts the events is the API’s', async () => {
  expect(await answered(200, { events_processed: 2 })).toMatchObject({ type: 'accepted' });
});

test('an answer without errors confirms every event', async () => {
  expect(await answered(202, { message: 'success', events_processed: 2 })).toEqual({
    type: 'accepted',
    skipped: [],
    problems: [],
  });
});

test.each([[[]], ['welcome'], [3]])(
  'a 202 that reads %j may be of a proxy behind which the events were taken',
  async (body) => {
    expect(await answered(202, body)).toMatchObject({ type: 'in-doubt' });
  },
);

test('a 408 says that the request came too slowly, and not that it is wrong', async () => {
  expect(await answered(408, { message: 'Request Timeout' })).toMatchObject({ type: 'retry', status: 408 });
});
