import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/index.ts';
import { APP_ID, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService | undefined;
afterEach(() => service?.stop());

const twice = { requests: 2, window_seconds: 60 };
const attributes = { attributes: [{ external_id: 'u-771' }] };
const sync = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1', placements: ['home'] };

const rateHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit')));

/** Another workspace, with its own keys. */
const another = (id: string, members: Record<string, unknown>) =>
  aWorkspace({
    workspace_id: id,
    api_keys: [
      { type: 'server', key: `${id}-server`, permissions: ['users.track', 'cdi.integration_list'] },
      { type: 'client', key: `${id}-client`, permissions: ['banners.sync'] },
    ],
    ...members,
  });

describe('contract 1.5: rate-limit headers', () => {
  test('have the reset in remaining seconds for /users/track, and only Retry-After on its 429', async () => {
    service = await runService([aWorkspace({ limits: { users_track: twice } })]);
    const track = () => service!.call('POST', '/users/track', { key: SERVER_KEY, body: attributes });
    service.clock.now = Date.parse('2026-03-01T09:00:20.500Z');
    expect(rateHeaders((await track()).headers)).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '40',
    });
    await track();
    const refused = await track();
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ message: 'Over rate limit', errors: [{ type: 'Over rate limit' }] });
    expect(rateHeaders(refused.headers)).toEqual({ 'x-ratelimit-retry-after': '40' });
    service.clock.now = Date.parse('2026-03-01T09:01:00Z');
    expect((await track()).status).toBe(201);
  });

  test('have the reset as Unix time in seconds for /cdi/integrations', async () => {
    service = await runService([aWorkspace({ integrations: [], limits: { cdi_integrations: twice } })]);
    const list = () => service!.call('GET', '/cdi/integrations', { key: SERVER_KEY });
    const reset = String(Date.parse('2026-03-01T09:01:00Z') / 1000);
    expect(rateHeaders((await list()).headers)).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': reset,
    });
    await list();
    const refused = await list();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('x-ratelimit-reset')).toBe(reset);
  });

  test('include all four on a 429 of a banner endpoint, whose body has its own format', async () => {
    service = await runService([
      aWorkspace({ limits: { banners_sync: { per_user: twice }, banners_track: { per_user: twice } } }),
    ]);
    const events = { ...sync, events: [] };
    for (const [path, body, refusal] of [
      ['sync', sync, { error: 'Over rate limit' }],
      ['track', events, { message: 'Over rate limit' }],
    ] as const) {
      const ask = () =>
        service!.call('POST', `/v1/device-messaging/banners/${path}`, { key: CLIENT_KEY, body });
      await ask();
      await ask();
      const refused = await ask();
      expect({ status: refused.status, body: refused.body }).toEqual({ status: 429, body: refusal });
      expect(rateHeaders(refused.headers)).toEqual({
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.parse('2026-03-01T09:01:00Z') / 1000),
        'x-ratelimit-retry-after': '60',
      });
    }
  });

  test('start new windows in a new process on SQLite', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'rate-windows-')), 'placard.db');
    const start = async () =>
      runService([aWorkspace({ limits: { users_track: twice } })], { store: await openStore(path) });
    const left = async () => {
      const { headers } = await service!.call('POST', '/users/track', { key: SERVER_KEY, body: attributes });
      return headers.get('x-ratelimit-remaining');
    };
    service = await start();
    expect([await left(), await left()]).toEqual(['1', '0']);
    await service.stop();
    service = await start();
    expect(await left()).toBe('1');
  });

  test('are set on errors after the request is counted', async () => {
    service = await runService([aWorkspace()]);
    const { status, headers } = await service.call('POST', '/users/track', { key: SERVER_KEY, body: '{' });
    expect(status).toBe(400);
    expect(headers.get('x-ratelimit-limit')).toBe('3000');
  });

  test('do not count requests without a key', async () => {
    service = await runService([aWorkspace({ limits: { users_track: twice } })]);
    for (let i = 0; i < 5; i += 1) await service.call('POST', '/users/track', { body: attributes });
    const { headers } = await service.call('POST', '/users/track', { key: SERVER_KEY, body: attributes });
    expect(headers.get('x-ratelimit-remaining')).toBe('1');
  });
});

describe('contract 8, row 30: several windows', () => {
  const hourlyAndBurst = {
    windows: [
      { requests: 2, window_seconds: 3 },
      { requests: 100, window_seconds: 3_600 },
    ],
  };

  test('report the hourly window in headers, and reject by the burst limit', async () => {
    service = await runService([aWorkspace({ limits: { users_track: hourlyAndBurst } })]);
    const track = () => service!.call('POST', '/users/track', { key: SERVER_KEY, body: attributes });
    const { headers } = await track();
    expect(rateHeaders(headers)).toEqual({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': '3600',
    });
    await track();
    const refused = await track();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('x-ratelimit-retry-after'))).toBeLessThanOrEqual(3);
    service.clock.now += 3_000;
    expect((await track()).headers.get('x-ratelimit-remaining')).toBe('97');
  });

  test('share only the burst limit between workspaces of one company', async () => {
    const members = { company_id: 'acme', limits: { users_track: hourlyAndBurst, cdi_integrations: twice } };
    service = await runService([another('one', members), another('two', members), another('three', {})]);
    const track = (id: string) =>
      service!.call('POST', '/users/track', { key: `${id}-server`, body: attributes });
    const first = await track('one');
    const second = await track('two');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get('x-ratelimit-remaining')).toBe('99');
    expect((await track('one')).status).toBe(429);
    expect((await track('three')).status).toBe(201);
  });

  test('are separate for workspaces without a `company_id`', async () => {
    const members = { limits: { users_track: twice } };
    service = await runService([another('one', members), another('two', members)]);
    const track = (id: string) =>
      service!.call('POST', '/users/track', { key: `${id}-server`, body: attributes });
    await track('one');
    await track('one');
    expect([(await track('one')).status, (await track('two')).status]).toEqual([429, 201]);
  });
});

describe('the limit per user', () => {
  const ask = (path: 'sync' | 'track', user: unknown) =>
    service!.call('POST', `/v1/device-messaging/banners/${path}`, {
      key: CLIENT_KEY,
      body: { ...sync, external_user_id: user, events: [{ id: 'none', event_type: 'click', timestamp: '' }] },
    });
  const statuses = async (count: number, path: 'sync' | 'track', user: string) => {
    const answers = await Promise.all(Array.from({ length: count }, () => ask(path, user)));
    return answers.map(({ status }) => status);
  };

  test('is 60 requests a minute per user for each banner endpoint', async () => {
    service = await runService([aWorkspace()]);
    expect(await statuses(61, 'sync', 'u-1')).toEqual([...Array(60).fill(200), 429]);
    expect(await statuses(61, 'track', 'u-1')).toEqual([...Array(60).fill(400), 429]);
    expect((await ask('sync', 'u-2')).status).toBe(200);
    service.clock.now += 60_000;
    expect((await ask('sync', 'u-1')).status).toBe(200);
  });

  test('allows requests of many users without store calls', async () => {
    const store = await openStore(':memory:');
    let taken = 0;
    const consumeRateLimit: typeof store.consumeRateLimit = (...given) => {
      taken += 1;
      return store.consumeRateLimit(...given);
    };
    service = await runService([aWorkspace()], { store: { ...store, consumeRateLimit } });
    const users = Array.from({ length: 400 }, (_, at) => `u-${at}`);
    const answers = await Promise.all(users.map((user) => ask('sync', user)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(taken).toBe(0);
  });

  test('replaces the limit of the workspace in the headers', async () => {
    const limits = { banners_sync: { requests: 1_000, window_seconds: 60, per_user: twice } };
    service = await runService([aWorkspace({ limits })]);
    expect(rateHeaders((await ask('sync', 'u-1')).headers)).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
    });
    // The request names no user, so the workspace limit applies.
    const { status, headers } = await ask('sync', 5);
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([400, '1000']);
  });

  test('is separate for the same user ID in different workspaces', async () => {
    const limits = { banners_sync: { per_user: { requests: 1, window_seconds: 60 } } };
    service = await runService([another('one', { limits }), another('two', { limits })]);
    const asked = (id: string) =>
      service!.call('POST', '/v1/device-messaging/banners/sync', { key: `${id}-client`, body: sync });
    const answers = [await asked('one'), await asked('one'), await asked('two')];
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 200]);
  });
});
