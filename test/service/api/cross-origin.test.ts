import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { APP_ID, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { API_ROUTES, concretePath } from '../../helpers/api-routes.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

const SYNC = '/v1/device-messaging/banners/sync';
const TRACK = '/v1/device-messaging/banners/track';
const OPEN = API_ROUTES.filter(({ crossOrigin }) => crossOrigin);
const CLOSED = API_ROUTES.filter(({ crossOrigin }) => !crossOrigin);
const origin = { origin: 'https://shop.example' };

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace()]);
});
afterAll(() => service.stop());

describe('contract 8, row 18: cross-origin requests', () => {
  test.each(OPEN)('pass the preflight for $path without a key', async ({ path }) => {
    const { status, headers, body } = await service.call('OPTIONS', path, {
      headers: {
        ...origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type',
      },
    });
    expect({ status, body }).toEqual({ status: 204, body: '' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('POST');
    expect(headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
  });

  test.each(OPEN)('may send common headers of page tools to $path', async ({ path }) => {
    const requested = 'authorization,baggage,content-type,sentry-trace,traceparent,x-datadog-trace-id';
    const { headers } = await service.call('OPTIONS', path, {
      headers: {
        ...origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': requested,
      },
    });
    expect(headers.get('access-control-allow-headers')).toBe(requested);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(OPEN)(
    'may read every response of $path, with the rate headers and the date',
    async ({ path, operation: { example: asked } }) => {
      const answers = [
        await service.call('POST', path, { key: CLIENT_KEY, headers: origin, body: asked }),
        await service.call('POST', path, { key: CLIENT_KEY, headers: origin, body: '{' }),
        await service.call('POST', path, { headers: origin, body: asked }),
        await service.call('POST', path, { key: SERVER_KEY, headers: origin, body: asked }),
        await service.call('GET', path, { headers: origin }),
      ];
      expect(answers.map(({ status }) => status)).toContain(401);
      for (const { headers } of answers) {
        expect(headers.get('access-control-allow-origin')).toBe('*');
        const exposed = headers.get('access-control-expose-headers') ?? '';
        for (const name of ['Limit', 'Remaining', 'Reset', 'Retry-After']) {
          expect(exposed).toContain(`X-RateLimit-${name}`);
        }
        expect(exposed).toContain('Date');
        expect(headers.get('date')).not.toBeNull();
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
    },
  );

  test.each(CLOSED)('are rejected by $path', async (route) => {
    const { status, headers } = await service.call('OPTIONS', concretePath(route), { headers: origin });
    expect(status).toBe(405);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('the feature switch', () => {
  test('returns 404 on both endpoints, after key validation', async () => {
    const off = await runService([aWorkspace({ banners: false })]);
    try {
      const body = { external_user_id: 'u', app_id: APP_ID, app_version: '1', placements: ['home'] };
      const synced = await off.call('POST', SYNC, { key: CLIENT_KEY, body });
      expect({ status: synced.status, body: synced.body }).toEqual({
        status: 404,
        body: { error: 'Not Found' },
      });
      const tracked = await off.call('POST', TRACK, { key: CLIENT_KEY, body });
      expect({ status: tracked.status, body: tracked.body }).toEqual({
        status: 404,
        body: { message: 'Not Found' },
      });
      expect((await off.call('POST', SYNC, { body })).status).toBe(401);
      expect((await off.call('POST', SYNC, { key: SERVER_KEY, body })).status).toBe(401);
      expect((await off.call('POST', '/users/track', { key: SERVER_KEY, body: {} })).status).toBe(400);
    } finally {
      await off.stop();
    }
  });
});
