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

test.each([{}, 'none', 3, null])(
  'an answer of 202 whose errors are no list (%j) is in doubt',
  async (errors) => {
    expect(await answered(202, { message: 'success', errors })).toMatchObject({ type: 'in-doubt' });
  },
);

test('an answer without errors confirms every event', async () => {
  expect(await answered(202, { message: 'success', events_processed: 2 })).toEqual({
    type: 'accepted',
    skipped: [],
    problems: [],
  });
});
