import { describe, expect, it } from 'vitest';
import {
  isIdempotent,
  type RequestState,
  type TrackPosition,
  TrackStoppedError,
} from '../../src/server/index.ts';
import { arrangeRestClient, someEvents } from '../helpers/rest-client.ts';

/** Sends 80 events of one user in two requests and records the `onRequest` calls. */
const track = async (arranged: ReturnType<typeof arrangeRestClient>) => {
  const states: [RequestState, first: number, last: number][] = [];
  const onRequest = (state: RequestState, positions: TrackPosition[]) =>
    states.push([state, positions[0]!.index, positions.at(-1)!.index]);
  const error = await arranged.client
    .track({ events: someEvents(80, 'one') }, { onRequest })
    .catch((reason) => reason);
  return { states, error };
};

describe('onRequest', () => {
  it('receives each request before it is sent and after its response', async () => {
    expect((await track(arrangeRestClient())).states).toEqual([
      ['started', 0, 74],
      ['completed', 0, 74],
      ['started', 75, 79],
      ['completed', 75, 79],
    ]);
  });

  it('receives `not_sent` before a retry if nothing was accepted', async () => {
    const arranged = arrangeRestClient();
    arranged.fake.fail({ type: 'rate-limit', afterSeconds: 60 });
    expect((await track(arranged)).states.slice(0, 4)).toEqual([
      ['started', 0, 74],
      ['not_sent', 0, 74],
      ['started', 0, 74],
      ['completed', 0, 74],
    ]);
  });

  it('receives `not_sent` for a rejected request that stops the run', async () => {
    const arranged = arrangeRestClient();
    arranged.fake.fail({ type: 'status', status: 401 });
    const { states, error } = await track(arranged);
    expect(error).toBeInstanceOf(TrackStoppedError);
    expect(states).toEqual([
      ['started', 0, 74],
      ['not_sent', 0, 74],
    ]);
  });

  it('receives `in_doubt` if a response was lost', async () => {
    const arranged = arrangeRestClient();
    arranged.fake.fail({ type: 'drop', when: 'after' });
    expect((await track(arranged)).states.slice(0, 2)).toEqual([
      ['started', 0, 74],
      ['in_doubt', 0, 74],
    ]);
  });

  it('prevents the request if it throws beforehand', async () => {
    const { client, fake } = arrangeRestClient();
    const onRequest = () => {
      throw new Error('disk full');
    };
    const error = await client.track({ events: someEvents(80) }, { onRequest }).catch((reason) => reason);
    expect(error.cause.message).toBe('disk full');
    expect(error.unsent).toHaveLength(75);
    expect(fake.requests).toEqual([]);
  });

  it('stops the run if it throws after a request', async () => {
    const { client, fake } = arrangeRestClient();
    const onRequest = (state: RequestState) => {
      if (state === 'completed') throw new Error('disk full');
    };
    const error = await client
      .track({ events: someEvents(300, 'one') }, { onRequest, concurrency: 1 })
      .catch((reason) => reason);
    expect(error.cause.message).toBe('disk full');
    expect(error.report.processed.events).toBe(75);
    expect(fake.requests).toHaveLength(1);
  });
});

describe('onRetry', () => {
  it('receives the reason for a retry, and its delay', async () => {
    const retries: [string, number][] = [];
    const { client, fake } = arrangeRestClient({
      onRetry: (error, waitMs) => retries.push([error.message, waitMs]),
    });
    fake.fail({ type: 'status', status: 503 }, { times: 2 });
    await client.track({ events: someEvents(1) });
    expect(retries).toEqual([
      ['POST /users/track returned 503: Status 503', 250],
      ['POST /users/track returned 503: Status 503', 500],
    ]);
    expect(retries.every(([, waitMs]) => Number.isInteger(waitMs))).toBe(true);
  });
});

describe('isIdempotent', () => {
  it.each([
    [{ tier: 'gold', tags: { add: ['vip'] } }, true],
    [{ visits: { inc: 1 } }, false],
    [{ cars: { $add: [{ id: 1 }] } }, false],
    [null, true],
  ])('for the attributes %j is %j', (object, idempotent) => {
    expect(isIdempotent({ array: 'attributes', object })).toBe(idempotent);
  });

  it('is false for events and purchases', () => {
    expect(isIdempotent({ array: 'events', object: {} })).toBe(false);
    expect(isIdempotent({ array: 'purchases', object: {} })).toBe(false);
  });
});
