import { afterEach, describe, expect, it } from 'vitest';
import { readRateLimit, TRACK_PATH, USERS_TRACK_PATH } from '../../src/protocol/index.ts';
import {
  createFakeService,
  createVirtualClock,
  type FakeService,
  type Fault,
} from '../../src/testing/index.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';

const AT = '2026-03-01T09:20:01.250Z';
const body = (...ids: string[]) =>
  JSON.stringify({
    external_user_id: 'u-1',
    app_id: 'app',
    app_version: '1.0',
    events: ids.map((id) => ({ id, event_type: 'impression', timestamp: AT })),
  });

const init = (text: string): RequestInit => ({
  method: 'POST',
  headers: { authorization: 'Bearer client-key', 'content-type': 'application/json' },
  body: text,
});

const stored = (service: FakeService) => service.events.map(({ bannerId }) => bannerId);

describe.each(['in memory', 'over a socket'] as const)('faults of the fake service %s', (where) => {
  let server: HttpServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const arrange = async (fault?: Fault) => {
    const service = createFakeService({ users: ['u-1'] });
    if (fault) service.fail(fault);
    if (where === 'over a socket') server = await serveHandler(service.handle);
    const call = (...ids: string[]) =>
      server
        ? fetch(server.origin + TRACK_PATH, init(body(...ids)))
        : service.fetch(service.origin + TRACK_PATH, init(body(...ids)));
    return { service, call };
  };

  it('reject the events at the given indexes and store the others', async () => {
    const { service, call } = await arrange({ type: 'skip', indices: [1, 3], reason: 'Not today' });
    const answer = await call('a', 'b', 'c', 'd', 'e');
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({
      events_processed: 3,
      message: 'success',
      errors: [
        { type: 'Not today', index: 1 },
        { type: 'Not today', index: 3 },
      ],
    });
    expect(stored(service)).toEqual(['a', 'c', 'e']);
  });

  it('return 400 with every index if all are rejected', async () => {
    const { service, call } = await arrange({ type: 'skip', indices: [0, 1] });
    const answer = await call('a', 'b');
    expect(answer.status).toBe(400);
    expect((await answer.json()).errors).toHaveLength(2);
    expect(stored(service)).toEqual([]);
  });

  it('return contradictory errors verbatim, while all events are stored', async () => {
    const errors = [{ index: 9, type: 'x' }, { index: -1 }, 'text', { index: 0.5 }];
    const { service, call } = await arrange({ type: 'errors', errors, processed: 7 });
    expect(await (await call('a')).json()).toEqual({ events_processed: 7, message: 'success', errors });
    expect(stored(service)).toEqual(['a']);
  });

  it('affect one request by default', async () => {
    const { service, call } = await arrange({ type: 'status', status: 503 });
    expect((await call('a')).status).toBe(503);
    expect((await call('a')).status).toBe(202);
    expect(stored(service)).toEqual(['a']);
    expect(service.requests.map(({ status }) => status)).toEqual([503, 202]);
  });

  it('drop the connection before the request is accepted', async () => {
    const { service, call } = await arrange({ type: 'drop', when: 'before' });
    await expect(call('a')).rejects.toThrow(TypeError);
    expect(stored(service)).toEqual([]);
  });

  it('drop the connection after the request is accepted', async () => {
    const { service, call } = await arrange({ type: 'drop', when: 'after' });
    await expect(call('a')).rejects.toThrow(TypeError);
    expect(stored(service)).toEqual(['a']);
    expect(service.requests[0]).not.toHaveProperty('status');
  });

  it('respond as a captive portal, without accepting the request', async () => {
    const { service, call } = await arrange({ type: 'captive-portal' });
    const answer = await call('a');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/html');
    await expect(answer.json()).rejects.toThrow(SyntaxError);
    expect(stored(service)).toEqual([]);
  });

  it.each([204, 205])('return %i, which has no body', async (status) => {
    const { service, call } = await arrange({ type: 'status', status });
    const answer = await call('a');
    expect([answer.status, await answer.text()]).toEqual([status, '']);
    expect(stored(service)).toEqual([]);
  });

  it('accept the request and truncate the response, with or without a network error', async () => {
    const { service, call } = await arrange({ type: 'truncate' });
    await expect((await call('a')).json()).rejects.toThrow(SyntaxError);
    service.fail({ type: 'truncate', broken: true });
    const broken = await call('b');
    expect(broken.status).toBe(202);
    await expect(broken.text()).rejects.toThrow();
    expect(stored(service)).toEqual(['a', 'b']);
  });

  it('hang until the client times out, with or without accepting the request', async () => {
    const { service } = await arrange({ type: 'hang' });
    service.fail({ type: 'hang', stored: true });
    for (const id of ['a', 'b']) {
      const controller = new AbortController();
      const url = (server?.origin ?? service.origin) + TRACK_PATH;
      const call = (server ? fetch : service.fetch)(url, { ...init(body(id)), signal: controller.signal });
      while (service.requests.length < (id === 'a' ? 1 : 2))
        await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    }
    expect(stored(service)).toEqual(['b']);
  });
});

describe('faults of the fake service', () => {
  const call = (service: FakeService, path = TRACK_PATH, more: RequestInit = {}) =>
    service.fetch(service.origin + path, { ...init(body('a')), ...more });

  it.each([
    ['banners', 'epoch', 30],
    ['users-track', 'epoch', 30],
    ['retry-after', 'epoch', 30],
    ['retry-after-date', 'epoch', 30],
    ['reset', 'epoch', 30],
  ] as const)('send Retry-After in the form %s', async (form, kind, seconds) => {
    const now = Date.UTC(2026, 0, 1);
    const service = createFakeService({ users: ['u-1'], now: () => now });
    service.fail({ type: 'rate-limit', afterSeconds: seconds, form });
    const answer = await call(service);
    expect(answer.status).toBe(429);
    expect(readRateLimit(answer.headers, kind, now).retryAfterMs).toBe(seconds * 1000);
  });

  it('return errors and counts in the format of users/track', async () => {
    const service = createFakeService({ users: ['u-1'] });
    service.fail({ type: 'errors', errors: ['W'], processed: 0 });
    const answer = await service.fetch(service.origin + USERS_TRACK_PATH, {
      method: 'POST',
      headers: { authorization: 'Bearer server-key', 'content-type': 'application/json' },
      body: JSON.stringify({ events: [{ external_id: 'u', name: 'n', time: AT }] }),
    });
    expect(await answer.json()).toEqual({ message: 'success', events_processed: 0, errors: ['W'] });
    expect(service.objects).toHaveLength(1);
  });

  it('send the reset of users/track as the remaining seconds', async () => {
    const service = createFakeService({ users: ['u-1'] });
    service.fail({ type: 'rate-limit', afterSeconds: 9, form: 'reset' });
    const answer = await call(service, USERS_TRACK_PATH);
    expect(answer.headers.get('x-ratelimit-reset')).toBe('9');
  });

  it('omit all rate-limit headers', async () => {
    const service = createFakeService({ users: ['u-1'] });
    service.fail({ type: 'rate-limit', afterSeconds: 9, form: 'hidden' });
    const answer = await call(service);
    expect(readRateLimit(answer.headers, 'epoch', Date.now())).toEqual({});
    expect(answer.headers.has('access-control-expose-headers')).toBe(false);
  });

  it('delay the response by the given clock', async () => {
    const clock = createVirtualClock();
    const service = createFakeService({ users: ['u-1'], setTimeout: clock.setTimeout });
    service.fail({ type: 'slow', delayMs: 500 });
    let answered = false;
    const answer = call(service).then((response) => {
      answered = true;
      return response;
    });
    await clock.advance(499);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect((await answer).status).toBe(202);
  });

  it('redirect to another origin, where the request fails', async () => {
    const service = createFakeService({ users: ['u-1'] });
    service.fail({ type: 'redirect', to: 'http://elsewhere.test/take' }, { times: 2 });
    await expect(call(service, TRACK_PATH, { redirect: 'error' })).rejects.toThrow('Failed to fetch');
    // No server at that origin: nothing is stored, and the fetch fails as on a network error.
    await expect(call(service)).rejects.toThrow('Failed to fetch');
    expect(service.events).toEqual([]);
  });

  it('redirect within the origin with method, key and body', async () => {
    const service = createFakeService({ users: ['u-1'] });
    service.fail({ type: 'redirect', to: TRACK_PATH, status: 308 });
    expect((await call(service)).status).toBe(202);
    expect(stored(service)).toEqual(['a']);
  });

  it('can be limited to a path or a number of requests, and removed', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const lift = service.fail(
      { type: 'status', status: 500 },
      { path: TRACK_PATH, times: Number.POSITIVE_INFINITY },
    );
    expect((await call(service, USERS_TRACK_PATH)).status).toBe(403);
    expect((await call(service)).status).toBe(500);
    expect((await call(service)).status).toBe(500);
    lift();
    expect((await call(service)).status).toBe(202);
    service.fail({ type: 'status', status: 500 }, { when: ({ count }) => count === 5 });
    expect((await call(service)).status).toBe(202);
    expect((await call(service)).status).toBe(500);
    service.fail({ type: 'captive-portal' }, { times: 9 });
    service.recover();
    expect((await call(service)).status).toBe(202);
  });

  it('fail with a network error for an unknown host', async () => {
    const service = createFakeService({ users: ['u-1'] });
    await expect(service.fetch('http://nobody.test/')).rejects.toThrow('Failed to fetch');
    expect(service.requests).toEqual([]);
  });
});
