import { describe, expect, it, onTestFinished } from 'vitest';
import { type TrackInput, TrackStoppedError } from '../../src/server/index.ts';
import fc from '../helpers/property.ts';
import { arrangeRestClient, someEvents } from '../helpers/rest-client.ts';

const TIME = '2026-01-01T00:00:00Z';
const bodies = (fake: { requests: { body: unknown }[] }) =>
  fake.requests.map(
    ({ body }) => body as Record<'attributes' | 'events' | 'purchases', { name?: string }[] | undefined>,
  );

describe('client.track()', () => {
  it('sends 75 objects per request, attributes first, then events, then purchases', async () => {
    const { client, fake } = arrangeRestClient();
    const report = await client.track({
      attributes: Array.from({ length: 70 }, (_, at) => ({ external_id: `u-${at}`, tier: 'gold' })),
      events: someEvents(10),
      purchases: [{ external_id: 'p', product_id: 's', currency: 'EUR', price: 1, time: TIME }],
    });
    expect(
      bodies(fake).map(({ attributes, events, purchases }) => [
        attributes?.length,
        events?.length,
        purchases?.length,
      ]),
    ).toEqual([
      [70, 5, undefined],
      [undefined, 5, 1],
    ]);
    expect(report).toEqual({
      processed: { attributes: 70, events: 10, purchases: 1 },
      problems: [],
      inDoubt: [],
      requests: 2,
      consumed: { attributes: 70, events: 10, purchases: 1 },
    });
  });

  it.each([
    [{ event: someEvents(1) }, "track: expected attributes, events, purchases, got 'event'"],
    [{ events: someEvents(1)[0] }, "track: expected 'events' to be an array or a stream, got object"],
    [
      { attributes: [], purchases: 'none' },
      "track: expected 'purchases' to be an array or a stream, got string",
    ],
    [undefined, 'track: expected an object or a stream of objects, got undefined'],
    [null, 'track: expected an object or a stream of objects, got null'],
  ])('rejects an input without any object: %j', async (input, message) => {
    const { client, fake } = arrangeRestClient();
    await expect(client.track(input as TrackInput)).rejects.toThrow(new TypeError(message));
    expect(fake.requests).toEqual([]);
  });

  it('does not send requests for empty input', async () => {
    const { client, fake } = arrangeRestClient();
    expect((await client.track({ events: [] })).requests).toBe(0);
    expect(fake.requests).toEqual([]);
  });

  it('accepts any iterable, and reads an endless one only as fast as it sends', async () => {
    const { client, fake } = arrangeRestClient({ maxAttempts: 1 });
    let read = 0;
    async function* endless() {
      for (;;) {
        read += 1;
        yield { external_id: `u-${read}`, name: 'tick', time: TIME };
      }
    }
    fake.fail({ type: 'status', status: 503 }, { times: 99, when: ({ count }) => count >= 2 });
    const error = await client.track({ events: endless() }, { concurrency: 1 }).catch((reason) => reason);
    expect(error).toBeInstanceOf(TrackStoppedError);
    expect(error.report.processed.events).toBe(150);
    expect(error.report.consumed.events).toBe(300);
    expect(error.unsent.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 150 }, (_, at) => 150 + at),
    );
    expect(read).toBeLessThan(400);
  });

  it('reports each invalid object by its index in the input, for all requests', async () => {
    const { client } = arrangeRestClient();
    const events = someEvents(200);
    for (const bad of [0, 74, 75, 149, 199]) delete (events[bad] as { name?: string }).name;
    const purchases = [{ product_id: 's', currency: 'EUR', price: 1, time: TIME }] as never;
    const heard: unknown[] = [];
    const report = await client.track({ events, purchases }, { onProblem: (problem) => heard.push(problem) });
    expect(report.problems).toEqual([
      ...[0, 74, 75, 149, 199].map((index) => ({
        position: { array: 'events', index },
        reason: "'name' is required",
      })),
      {
        position: { array: 'purchases', index: 0 },
        reason: "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required",
      },
    ]);
    expect(heard).toEqual(report.problems);
    expect(report.processed).toEqual({ attributes: 0, events: 195, purchases: 0 });
  });

  it('reports correct indexes for any mixture of valid and invalid objects', async () => {
    const objects = fc.array(fc.boolean(), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(objects, objects, objects, async (attributes, events, purchases) => {
        const { client } = arrangeRestClient();
        const input = {
          attributes: attributes.map((good, at) => (good ? { external_id: `a${at}` } : {})),
          events: events.map((good, at) => ({
            external_id: `e${at}`,
            time: TIME,
            ...(good && { name: 'n' }),
          })),
          purchases: purchases.map((good, at) => ({
            email: `${at}@b.c`,
            ...(good && { product_id: 'p', currency: 'EUR', price: 1, time: TIME }),
          })),
        };
        const report = await client.track(input as TrackInput);
        for (const [array, list] of Object.entries({ attributes, events, purchases })) {
          const bad = list.flatMap((good, at) => (good ? [] : [at]));
          const named = report.problems.flatMap(({ position }) =>
            position?.array === array ? [position.index] : [],
          );
          // Once per error.
          expect([...new Set(named)].sort((a, b) => a - b)).toEqual(bad);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('reports errors of the service that do not refer to an object', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({
      type: 'errors',
      errors: ['plain text', { type: 'A', input_array: 'events', index: 9 }, { code: 5 }],
    });
    const report = await client.track({ events: someEvents(1) });
    expect(report.problems).toEqual([
      { position: null, reason: 'plain text' },
      { position: null, reason: 'A' },
      { position: null, reason: '{"code":5}' },
    ]);
    expect(report.processed.events).toBe(1);
  });

  it('counts all objects except the reported ones as accepted if a response has no counts', async () => {
    const { client } = arrangeRestClient({
      fetch: async () => Response.json({ message: 'queued' }, { status: 202 }),
    });
    expect((await client.track({ events: someEvents(3) })).processed.events).toBe(3);
  });

  it.each([
    [{ errors: null }, []],
    [{ events_processed: null, purchases_processed: null }, []],
    [{ events_processed: 'three' }, []],
    [{ errors: 'plain text' }, [{ position: null, reason: 'plain text' }]],
  ])('treats a success message as success, even with unexpected members: %j', async (members, problems) => {
    const { client } = arrangeRestClient({
      fetch: async () => Response.json({ message: 'success', ...members }, { status: 201 }),
    });
    const report = await client.track({ events: someEvents(3) });
    expect(report.processed).toEqual({ attributes: 0, events: 3, purchases: 0 });
    expect(report.problems).toEqual(problems);
  });

  it('does not treat other messages as success', async () => {
    const { client } = arrangeRestClient({
      fetch: async () => Response.json({ message: 'nothing done' }, { status: 201 }),
    });
    const report = await client.track({ events: someEvents(1) });
    expect(report.problems).toEqual([{ position: { array: 'events', index: 0 }, reason: 'nothing done' }]);
    expect(report.processed.events).toBe(0);
  });

  it('continues after a rejected request, and reports each of its objects', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({
      type: 'status',
      status: 400,
      body: { message: 'Nothing valid', errors: [{ type: 'X', input_array: 'events', index: 1 }] },
    });
    const report = await client.track({ events: someEvents(77) }, { concurrency: 1 });
    expect(report.problems).toHaveLength(75);
    expect(report.problems[0]).toEqual({ position: { array: 'events', index: 1 }, reason: 'X' });
    expect(report.problems[1]).toEqual({ position: { array: 'events', index: 0 }, reason: 'Nothing valid' });
    expect(report.processed.events).toBe(2);
  });

  it('rejects objects that can never be sent before any request, and sends the rest', async () => {
    const { client, fake } = arrangeRestClient();
    const circle: Record<string, unknown> = { external_id: 'c', name: 'n', time: TIME };
    circle['self'] = circle;
    const huge = {
      external_id: 'h',
      name: 'n',
      time: TIME,
      properties: { text: 'ü'.repeat(2 * 1024 * 1024) },
    };
    const written = (json: unknown) => ({ ...someEvents(1)[0], toJSON: () => json });
    const events = [circle, huge, 7, null, written(undefined), written([]), written('{'), ...someEvents(1)];
    const report = await client.track({ events: events as never });
    expect(report.problems.map(({ position, reason }) => [position?.index, reason.split(':')[0]])).toEqual([
      [0, 'not serializable as JSON'],
      [1, 'exceeds the request limit of 4194304 bytes'],
      [2, 'not an object'],
      [3, 'not an object'],
      [4, 'not an object'],
      [5, 'not an object'],
      [6, 'not an object'],
    ]);
    expect(report.processed.events).toBe(1);
    expect(bodies(fake)).toEqual([{ events: someEvents(1) }]);
  });

  it('keeps every body under 4 MB of UTF-8', async () => {
    const { client, fake } = arrangeRestClient();
    const text = 'ü'.repeat(100_000);
    await client.track({ attributes: someEvents(60).map(({ external_id }) => ({ external_id, text })) });
    expect(fake.requests.length).toBeGreaterThan(2);
    for (const request of fake.requests)
      expect(Buffer.byteLength(request.text)).toBeLessThanOrEqual(4 * 1024 * 1024);
    expect(fake.objects).toHaveLength(60);
  });

  it('limits each body to the number of values that the service parses', async () => {
    const { client, fake } = arrangeRestClient();
    const list = Array.from({ length: 16_000 }, () => 1);
    await client.track({ attributes: someEvents(5).map(({ external_id }) => ({ external_id, list })) });
    expect(fake.requests.map(({ text }) => text.match(/"external_id"/g)?.length)).toEqual([2, 2, 1]);
  });

  it('rejects with a report if the input throws', async () => {
    const { client } = arrangeRestClient();
    function* broken() {
      yield* someEvents(80);
      throw new Error('The file ended early');
    }
    const error = await client.track({ events: broken() }).catch((reason) => reason);
    expect(error).toBeInstanceOf(TrackStoppedError);
    expect(error.message).toBe('Tracking stopped: The file ended early');
    expect(error.report.processed.events).toBe(75);
    expect(error.report.consumed.events).toBe(75);
  });

  describe('if onProblem throws', () => {
    const options = {
      onProblem: () => {
        throw new Error('The log is full');
      },
    };

    it('stops, and reports the objects with a warning as accepted', async () => {
      const { client, fake } = arrangeRestClient();
      fake.fail({ type: 'errors', errors: [{ type: 'W', input_array: 'events', index: 0 }] });
      const error = await client.track({ events: someEvents(2) }, options).catch((reason) => reason);
      expect(error).toBeInstanceOf(TrackStoppedError);
      expect(error.message).toBe('Tracking stopped: The log is full');
      expect(error.report.processed.events).toBe(fake.objects.length);
      expect(error.unsent).toEqual([]);
      expect(error.report.problems).toHaveLength(1);
    });

    it('stops at a rejected request, and reports its other objects', async () => {
      const { client, fake } = arrangeRestClient();
      fake.fail({ type: 'status', status: 400, body: { message: 'Nothing valid' } });
      const heard: unknown[] = [];
      const onProblem = (problem: unknown) => {
        heard.push(problem);
        throw new Error('The log is full');
      };
      const error = await client.track({ events: someEvents(2) }, { onProblem }).catch((reason) => reason);
      expect(error).toBeInstanceOf(TrackStoppedError);
      expect(error.report.problems).toHaveLength(2);
      expect(heard).toEqual(error.report.problems);
      expect(error.unsent).toEqual([]);
    });

    it('does not cause an unhandled rejection while it waits for input', async () => {
      const unhandled: unknown[] = [];
      const hear = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', hear);
      onTestFinished(() => {
        process.off('unhandledRejection', hear);
      });
      let refused = false;
      const { client } = arrangeRestClient({
        fetch: async () => {
          refused = true;
          return Response.json({ message: 'Nothing valid' }, { status: 400 });
        },
      });
      async function* slow() {
        yield* someEvents(76);
        while (!refused) await new Promise((resolve) => setImmediate(resolve));
        // Node reports unhandled rejections at the end of the tick.
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      const error = await client.track({ events: slow() }, options).catch((reason) => reason);
      expect(unhandled).toEqual([]);
      expect(error.message).toBe('Tracking stopped: The log is full');
      // The object already read is held back for batching. It is at most the first object not consumed.
      expect([error.unsent, error.report.consumed.events]).toEqual([[], 75]);
    });

    it('stops reading after an object that can never be sent', async () => {
      const { client, fake } = arrangeRestClient();
      let read = 0;
      function* endless() {
        for (;;) {
          read += 1;
          yield 7;
        }
      }
      const error = await client.track({ events: endless() as never }, options).catch((reason) => reason);
      expect(error.message).toBe('Tracking stopped: The log is full');
      expect([read, error.report.problems.length, fake.requests.length]).toEqual([1, 1, 0]);
    });
  });

  it('stops when its signal aborts, and reports what may be accepted', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'hang', stored: true });
    const controller = new AbortController();
    const tracking = client.track({ events: someEvents(150, 'one') }, { signal: controller.signal });
    while (fake.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('Shutting down'));
    const error = await tracking.catch((reason) => reason);
    expect(error.message).toBe('Tracking stopped: Shutting down');
    expect(error.report.inDoubt).toHaveLength(75);
    expect(error.unsent).toHaveLength(75);
  });

  it('counts objects beyond the rate limit as unsent when the signal aborts', async () => {
    const controller = new AbortController();
    const { client, fake } = arrangeRestClient({
      sleep: async (_ms: number, signal?: AbortSignal) => {
        controller.abort(new Error('Shutting down'));
        signal?.throwIfAborted();
      },
    });
    fake.fail({ type: 'rate-limit', afterSeconds: 30, form: 'retry-after' });
    const tracking = client.track({ events: someEvents(3) }, { signal: controller.signal });
    const error = await tracking.catch((reason) => reason);
    expect(error.message).toBe('Tracking stopped: Shutting down');
    expect(error.report.inDoubt).toEqual([]);
    expect(error.unsent).toHaveLength(3);
  });

  /** Client that signals its first request. */
  const arrangeTelling = () => {
    const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
    const arranged = arrangeRestClient({
      fetch: (input, init) => {
        ask();
        return arranged.fake.fetch(input, init);
      },
    });
    return { ...arranged, isAsked };
  };

  it('sends queued objects while its input is idle, and later ones in order', async () => {
    const { client, fake, isAsked } = arrangeTelling();
    async function* input() {
      yield* someEvents(3, 'kim');
      await isAsked;
      yield* someEvents(2, 'kim');
    }
    const report = await client.track({ events: input() });
    expect(bodies(fake).map(({ events }) => events?.map(({ name }) => name))).toEqual([
      ['event-0', 'event-1', 'event-2'],
      ['event-0', 'event-1'],
    ]);
    expect(report).toMatchObject({ processed: { events: 5 }, consumed: { events: 5 }, requests: 2 });
  });

  it('reports the position of an input that fails after it was idle', async () => {
    const { client, isAsked } = arrangeTelling();
    async function* input() {
      yield* someEvents(3);
      await isAsked;
      throw new Error('The pipe broke');
    }
    const error = await client.track({ events: input() }).catch((reason) => reason);
    expect(error.message).toBe('Tracking stopped: The pipe broke');
    expect(error.report).toMatchObject({ processed: { events: 3 }, consumed: { events: 3 } });
  });

  it('stops while its input is idle, and closes it', async () => {
    const { client, fake } = arrangeRestClient();
    const controller = new AbortController();
    const { promise: isSilent, resolve: fallSilent } = Promise.withResolvers<void>();
    const { promise: silence, resolve: speak } = Promise.withResolvers<void>();
    const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
    async function* input() {
      try {
        yield* someEvents(80);
        fallSilent();
        await silence;
        yield* someEvents(1);
      } finally {
        letGo();
      }
    }
    const tracking = client.track({ events: input() }, { signal: controller.signal });
    await isSilent;
    controller.abort(new Error('Shutting down'));
    const error = await tracking.catch((reason) => reason);
    expect(error.message).toBe('Tracking stopped: Shutting down');
    expect(error.report.consumed.events).toBe(75);
    expect(fake.requests.length).toBeLessThanOrEqual(1);
    speak();
    await isLetGo;
  });

  it.each([false, true])(
    'reports a rejected key at once, even if its input is idle (signal: %s)',
    async (hasSignal) => {
      const { client, fake } = arrangeRestClient({ apiKey: 'an-old-key' });
      const { promise: silence, resolve: speak } = Promise.withResolvers<void>();
      const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
      async function* input() {
        try {
          yield* someEvents(80);
          await silence;
          yield* someEvents(1);
        } finally {
          letGo();
        }
      }
      const more = hasSignal ? { signal: new AbortController().signal } : {};
      const error = await client.track({ events: input() }, more).catch((reason) => reason);
      expect(error.cause).toMatchObject({ status: 401 });
      expect(error.report.consumed.events).toBe(75);
      expect(error.unsent).toHaveLength(75);
      expect(fake.requests).toHaveLength(1);
      speak();
      await isLetGo;
    },
  );

  it('accepts rows typed by an interface, and rejects invalid identifier types', async () => {
    interface Profile {
      external_id: string;
      tier: string;
    }
    interface Click {
      external_id: string;
      name: string;
      time: string;
      page: string;
    }
    const profiles: Profile[] = [{ external_id: 'kim', tier: 'gold' }];
    const clicks: Click[] = [{ external_id: 'kim', name: 'click', time: TIME, page: '/' }];
    const { client } = arrangeRestClient();
    const { processed } = await client.track({ attributes: profiles, events: clicks });
    expect(processed).toEqual({ attributes: 1, events: 1, purchases: 0 });

    interface Wrong {
      external_id: Date;
      tier: string;
    }
    const wrong: Wrong[] = [];
    // @ts-expect-error a date is not an identifier
    await client.track({ attributes: wrong });
    // @ts-expect-error an event has a time
    await client.track({ events: [] as { external_id: string; name: string }[] });
  });

  it('requires a valid concurrency', async () => {
    const { client } = arrangeRestClient();
    await expect(client.track({ events: [] }, { concurrency: 0 })).rejects.toThrow('concurrency: expected');
  });
});
