import { describe, expect, it } from 'vitest';
import { ApiError, TrackStoppedError } from '../../src/server/index.ts';
import { backoffMs } from '../../src/server/rate-limiter.ts';
import { arrangeRestClient, someEvents } from '../helpers/rest-client.ts';

describe('backoff', () => {
  it('doubles its maximum with each attempt, up to a minute', () => {
    expect([1, 2, 3, 4].map((attempt) => backoffMs(attempt, 1))).toEqual([500, 1_000, 2_000, 4_000]);
    expect(backoffMs(50, 1)).toBe(60_000);
  });

  it('spreads callers over the whole interval', () => {
    expect(backoffMs(3, 0)).toBe(0);
    expect(backoffMs(3, 0.25)).toBe(500);
  });

  it('waits at least as long as the service requires', () => {
    expect(backoffMs(1, 0, 7_000)).toBe(7_000);
    expect(backoffMs(1, 1, 7_000)).toBe(7_500);
  });
});

describe('a rejected request', () => {
  it.each([
    ['users-track', 30_000],
    ['retry-after', 30_000],
    ['reset', 30_000],
  ] as const)('is retried after the wait of a 429 in the form %s', async (form, least) => {
    const { client, fake, waits } = arrangeRestClient();
    fake.fail({ type: 'rate-limit', afterSeconds: 30, form });
    const report = await client.track({ events: someEvents(1) });
    expect(report.processed.events).toBe(1);
    expect(fake.requests[1]!.at - fake.requests[0]!.at).toBeGreaterThanOrEqual(least);
    expect(waits.length).toBeGreaterThan(0);
  });

  it('is retried on 500, 502 and 503, because nothing was accepted', async () => {
    const { client, fake } = arrangeRestClient();
    for (const status of [500, 502, 503]) fake.fail({ type: 'status', status, body: '<html>no</html>' });
    await client.track({ events: someEvents(1) });
    expect(fake.requests.map(({ status }) => status)).toEqual([500, 502, 503, 201]);
    expect(new Set(fake.requests.map(({ text }) => text)).size).toBe(1);
  });

  it.each([
    [503, '120', 120_250],
    [504, '120', 120_250],
    [503, '86400', 3_600_250],
    [503, new Date(Date.UTC(2026, 0, 1, 0, 2)).toUTCString(), 120_250],
  ])('is retried after the delay of a %i with Retry-After: %s', async (status, wish, waitMs) => {
    const { client, fake, waits } = arrangeRestClient();
    fake.fail({ type: 'status', status, headers: { 'Retry-After': wish } });
    await client.track({ attributes: [{ external_id: 'u', tier: 'gold' }] });
    expect(waits).toEqual([waitMs]);
  });

  it.each([
    [503, { 'X-RateLimit-Reset': '1800' }],
    [503, { 'Retry-After': new Date(Date.UTC(2025, 0, 1)).toUTCString() }],
    [429, { 'Retry-After': new Date(Date.UTC(2025, 0, 1)).toUTCString() }],
  ])('is retried after a backoff if a %i does not state a delay: %j', async (status, headers) => {
    const { client, fake, waits } = arrangeRestClient();
    fake.fail({ type: 'status', status, headers }, { times: 3 });
    await client.track({ events: someEvents(1) });
    expect(waits).toEqual([250, 500, 1_000]);
  });

  it('fails after the last attempt, with all details', async () => {
    const { client, fake } = arrangeRestClient({ maxAttempts: 3 });
    fake.fail({ type: 'status', status: 503 }, { times: 9 });
    const error = await client.track({ events: someEvents(2) }).catch((reason) => reason);
    expect(error).toBeInstanceOf(TrackStoppedError);
    expect(error.cause).toBeInstanceOf(ApiError);
    expect(error.cause).toMatchObject({ status: 503, retryable: true, endpoint: 'POST /users/track' });
    expect(error.unsent).toEqual([
      { array: 'events', index: 0 },
      { array: 'events', index: 1 },
    ]);
    expect(fake.requests).toHaveLength(3);
  });

  it.each([
    [401, 'Invalid API key'],
    [403, 'Access Denied'],
    [404, 'Not Found'],
    [415, 'Unsupported Media Type'],
  ])('is not retried on %i', async (status, text) => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'status', status, body: { message: text, errors: [{ type: text }] } });
    const error = await client.track({ events: someEvents(1) }).catch((reason) => reason);
    expect(error.cause).toMatchObject({
      status,
      retryable: false,
      serverMessage: text,
      errors: [{ type: text }],
    });
    expect(error.message).toBe(`Tracking stopped: POST /users/track returned ${status}: ${text}`);
    expect(fake.requests).toHaveLength(1);
  });

  it('has the rate limit from the headers', async () => {
    const { client, fake, now } = arrangeRestClient({ maxAttempts: 1 });
    fake.fail({ type: 'rate-limit', afterSeconds: 9, form: 'banners' }, { path: '/cdi/integrations' });
    const asked = now();
    await expect(client.integrations().next()).rejects.toMatchObject({
      status: 429,
      retryable: true,
      rateLimit: { limit: 100, remaining: 0, resetAtMs: asked + 9_000, retryAfterMs: 9_000 },
    });
  });

  it('does not follow redirects to another server', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'redirect', to: 'http://elsewhere.test/users/track' });
    const error = await client.track({ events: someEvents(1) }).catch((reason) => reason);
    expect(error.cause.message).toContain('a redirect to http://elsewhere.test/users/track');
    expect(error.unsent).toHaveLength(1);
  });
});

describe('pacing', () => {
  it('waits for the next window if the headers report an exhausted limit', async () => {
    let left = 3;
    const at: number[] = [];
    const arranged = arrangeRestClient({
      fetch: async () => {
        at.push(arranged.now());
        left = left === 0 ? 2 : left - 1;
        return Response.json(
          { message: 'success', events_processed: 75 },
          { status: 201, headers: { 'X-RateLimit-Remaining': String(left), 'X-RateLimit-Reset': '3' } },
        );
      },
    });
    const start = arranged.now();
    await arranged.client.track({ events: someEvents(75 * 5, 'one') });
    expect(at.map((each) => each - start)).toEqual([0, 0, 0, 3_000, 3_000]);
  });

  it('counts pending requests toward the limit', async () => {
    let open = 0;
    let most = 0;
    let asked = 0;
    const arranged = arrangeRestClient({
      fetch: async () => {
        asked += 1;
        const remaining = Math.max(0, 3 - asked);
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return Response.json(
          { message: 'success', events_processed: 75 },
          { status: 201, headers: { 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': '1' } },
        );
      },
    });
    await arranged.client.track({ events: someEvents(75 * 6) }, { concurrency: 2 });
    expect(most).toBe(2);
    expect(arranged.waits).toContain(1_000);
  });

  it('waits at most an hour, even if the next window starts later', async () => {
    const arranged = arrangeRestClient({
      fetch: async () => {
        const reset = String(arranged.now() / 1_000 + 2 * 24 * 3_600);
        const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': reset };
        return Response.json({ results: [], message: 'success' }, { headers });
      },
    });
    for (let count = 0; count < 3; count += 1) await arranged.client.integrations().next();
    expect(arranged.waits).toEqual([3_600_000, 3_600_000]);
  });

  describe.each(['whose key never came', 'whose signal had aborted'] as const)('a request %s', (kind) => {
    const arrange = ({ remaining }: { remaining: number }) => {
      let keyComes = true;
      const arranged = arrangeRestClient({
        apiKey: async () => {
          if (!keyComes) throw new Error('The vault is shut');
          return 'server-key';
        },
        fetch: async () => {
          const reset = String(arranged.now() / 1_000 + 3_600);
          const headers = { 'X-RateLimit-Remaining': String(remaining), 'X-RateLimit-Reset': reset };
          return Response.json({ results: [], message: 'success' }, { headers });
        },
      });
      const list = (signal?: AbortSignal) => arranged.client.integrations(signal && { signal }).next();
      const listInVain = {
        'whose key never came': async () => {
          keyComes = false;
          await expect(list()).rejects.toThrow('The vault is shut');
          keyComes = true;
        },
        'whose signal had aborted': () =>
          expect(list(AbortSignal.abort(new Error('No time')))).rejects.toThrow('No time'),
      }[kind];
      return { list, listInVain, waits: arranged.waits };
    };

    it('does not stay pending', async () => {
      const { list, listInVain, waits } = arrange({ remaining: 5 });
      for (let count = 0; count < 6; count += 1) await listInVain();
      await list();
      await list();
      expect(waits).toEqual([]);
    });

    it('does not count toward the limit', async () => {
      const { list, listInVain, waits } = arrange({ remaining: 1 });
      await list();
      await listInVain();
      await list();
      expect(waits).toEqual([]);
    });
  });
});
