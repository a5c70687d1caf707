import { describe, expect, it } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../src/protocol/index.ts';
import {
  buildBanner,
  createFakeService,
  createVirtualClock,
  type FakeService,
} from '../../src/testing/index.ts';

const AT = '2026-03-01T09:20:01.250Z';

const post = (service: FakeService, path: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
  service.fetch(service.origin + path, {
    method: 'POST',
    headers: { authorization: 'Bearer client-key', 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });

const envelope = { external_user_id: 'u-1', app_id: 'app', app_version: '1.0' };
const event = (id: string, event_type = 'impression', timestamp = AT) => ({ id, event_type, timestamp });
const track = (service: FakeService, events: unknown[], init?: RequestInit) =>
  post(service, TRACK_PATH, { ...envelope, events }, init);
const sync = (service: FakeService, placements: string[], user = 'u-1') =>
  post(service, SYNC_PATH, { ...envelope, external_user_id: user, placements });

describe('the fake service', () => {
  it('returns the banner of each requested placement, or null', async () => {
    const service = createFakeService({
      users: ['u-1'],
      banners: { hero: buildBanner('hero', { title: 'Hi', size: 2, big: true }) },
    });
    const answer = await sync(service, ['hero', 'footer']);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      banners: {
        hero: {
          id: 'banner-of-hero',
          placement_id: 'hero',
          is_control: false,
          is_test_send: false,
          expires_at: -1,
          properties: {
            title: { type: 'string', value: 'Hi' },
            size: { type: 'number', value: 2 },
            big: { type: 'boolean', value: true },
          },
        },
        footer: null,
      },
    });
  });

  it('returns the first ten distinct placements only', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const names = Array.from({ length: 12 }, (_, at) => `p${at}`);
    const { banners } = await (await sync(service, ['p0', ...names])).json();
    expect(Object.keys(banners)).toEqual(names.slice(0, 10));
  });

  it('hides a dismissed banner after the lag, from that user only', async () => {
    const clock = createVirtualClock();
    const service = createFakeService({
      users: ['u-1'],
      now: clock.now,
      dismissalLagMs: 1000,
      banners: { hero: buildBanner('hero') },
    });
    await track(service, [event('banner-of-hero', 'dismiss')]);
    const shown = async (user: string) =>
      (await (await sync(service, ['hero'], user)).json()).banners.hero !== null;
    expect(await shown('u-1')).toBe(true);
    await clock.advance(1000);
    expect(await shown('u-1')).toBe(false);
    expect(await shown('u-2')).toBe(true);
  });

  it('stores events and returns their number', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const answer = await track(service, [event('a'), event('b', 'click')]);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ events_processed: 2, message: 'success' });
    expect(service.events).toEqual([
      {
        userId: 'u-1',
        bannerId: 'a',
        type: 'impression',
        timestamp: AT,
        time: Date.parse(AT),
        copies: 1,
        buttonId: null,
      },
      {
        userId: 'u-1',
        bannerId: 'b',
        type: 'click',
        timestamp: AT,
        time: Date.parse(AT),
        copies: 1,
        buttonId: null,
      },
    ]);
  });

  it('counts a repeat as processed and stores it once, or twice without deduplication', async () => {
    for (const [deduplicates, stored] of [
      [true, 1],
      [false, 2],
    ] as const) {
      const service = createFakeService({ users: ['u-1'], deduplicates });
      await track(service, [event('a')]);
      // The same instant in another notation gives a duplicate event.
      const again = await track(service, [event('a', 'impression', '2026-03-01T10:20:01.250+01:00')]);
      expect((await again.json()).events_processed).toBe(1);
      expect(service.events).toHaveLength(stored);
      expect(service.events[0]!.copies).toBe(2);
    }
  });

  it('validates each event separately, and reports invalid ones by index', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const answer = await track(service, [
      event('a'),
      { id: 'b', event_type: 'impression' },
      7,
      event('c', 'view'),
      event('d', 'click', 'yesterday'),
      { event_type: 'click', timestamp: AT },
    ]);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({
      events_processed: 1,
      message: 'success',
      errors: [
        { type: "'timestamp' is required", index: 1 },
        { type: 'Event must be an object', index: 2 },
        { type: 'Invalid event_type. Valid types are: impression, click, dismiss.', index: 3 },
        { type: 'Invalid timestamp', index: 4 },
        { type: "'id' is required", index: 5 },
      ],
    });
  });

  it('returns 400 if no event is valid, or if the envelope is invalid', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const none = await track(service, [{}]);
    expect([none.status, await none.json()]).toEqual([
      400,
      { message: 'No valid events provided.', errors: [{ type: "'id' is required", index: 0 }] },
    ]);
    expect(await (await track(service, [])).json()).toEqual({ message: 'No valid events provided.' });
    const open = await post(service, TRACK_PATH, { ...envelope, app_id: undefined, events: [event('a')] });
    expect([open.status, await open.json()]).toEqual([400, { message: "'app_id' is required" }]);
    expect(service.events).toEqual([]);
  });

  it('rejects invalid keys, paths, methods, media types and syntax as the contract requires', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const status = async (path: string, init: RequestInit, body: unknown = {}) =>
      (await post(service, path, body, init)).status;
    const json = { 'content-type': 'application/json' };
    expect(await status(TRACK_PATH, { headers: json })).toBe(401);
    expect(await status(TRACK_PATH, { headers: { ...json, authorization: 'Bearer "client-key"' } })).toBe(
      401,
    );
    expect(await status(TRACK_PATH, { headers: { ...json, authorization: 'Bearer server-key' } })).toBe(403);
    expect(await status(SYNC_PATH, { headers: { ...json, authorization: 'Bearer server-key' } })).toBe(401);
    expect(await status(`${TRACK_PATH}/`, {})).toBe(404);
    expect(await status(TRACK_PATH, { method: 'PUT' })).toBe(405);
    expect(await status(TRACK_PATH, { headers: { authorization: 'Bearer client-key' } })).toBe(400);
    expect(await status(TRACK_PATH, {}, '{')).toBe(400);
    service.setKeys({ client: 'next-key' });
    expect(await status(TRACK_PATH, {})).toBe(401);
  });

  it('records every request as it was sent', async () => {
    const service = createFakeService({ users: ['u-1'], now: () => 42 });
    await track(service, [event('a')]);
    const [request] = service.requests;
    expect(request).toMatchObject({ at: 42, method: 'POST', path: TRACK_PATH, status: 202 });
    expect(request!.text).toBe(JSON.stringify({ ...envelope, events: [event('a')] }));
    expect(request!.headers.get('authorization')).toBe('Bearer client-key');
    service.clear();
    expect([service.requests, service.events]).toEqual([[], []]);
  });

  it('removes dismissals with the other stored data', async () => {
    const service = createFakeService({ users: ['u-1'], banners: { hero: buildBanner('hero') } });
    await track(service, [event('banner-of-hero', 'dismiss')]);
    service.clear();
    expect((await (await sync(service, ['hero'])).json()).banners.hero).not.toBeNull();
  });

  it('responds to a preflight and exposes the rate headers to browsers', async () => {
    const service = createFakeService({ users: ['u-1'] });
    const preflight = await service.handle(new Request(service.origin + TRACK_PATH, { method: 'OPTIONS' }));
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(service.preflights()).toBe(1);
    expect(service.requests).toEqual([]);
    const answer = await track(service, [event('a')]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-RateLimit-Retry-After');
  });
});
