import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ErrorFormat,
  INTEGRATION_SYNC_PATH,
  JOB_SYNC_STATUS_PATH,
  PREVIEW_PATH,
  TRACK_PATH,
  VISITOR_JOIN_PATH,
} from '../../../src/protocol/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { API_ROUTES, concretePath, keyFor, NO_LIMITS, requiresQuery } from '../../helpers/api-routes.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

const general = (text: string) => ({ message: text, errors: [{ type: text }] });
const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '4.2.0' };

/** Error bodies of the contract by format. */
const ERROR_BODIES: Record<ErrorFormat, (text: string) => unknown> = {
  general,
  sync: (text) => ({ error: text }),
  track: (text) => ({ message: text }),
};

/** Expected status of examples that cannot succeed: they name a banner, a draft, a link, a user token or an integration. */
const STATUS_OF_EXAMPLE: Record<string, number> = {
  [TRACK_PATH]: 400,
  '/campaigns/translations': 400,
  [PREVIEW_PATH]: 401,
  [VISITOR_JOIN_PATH]: 403,
  [INTEGRATION_SYNC_PATH]: 404,
  [JOB_SYNC_STATUS_PATH]: 404,
};

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace({ integrations: [], campaigns: [aCampaign()], limits: NO_LIMITS })]);
});
afterAll(() => service.stop());

describe.each(API_ROUTES)('contract 2: $method $path', (route) => {
  const { method, crossOrigin } = route;
  const path = concretePath(route);
  const key = keyFor(route);
  const isBulk = path.endsWith('/bulk');
  const row = {
    otherKey: crossOrigin ? SERVER_KEY : CLIENT_KEY,
    forbidden: path.endsWith('banners/sync') ? 401 : 403,
    tooLarge: crossOrigin || isBulk ? 400 : 413,
    wrongType: crossOrigin ? 400 : 415,
    ok: STATUS_OF_EXAMPLE[route.path] ?? (requiresQuery(route) ? 400 : route.response.status),
    refusal: ERROR_BODIES[route.errorFormat],
  };
  const body = route.operation.example;
  const wrongMethod = method === 'GET' ? 'POST' : 'GET';
  const tooMuch = isBulk ? 2 * 1024 * 1024 + 1 : 4 * 1024 * 1024 + 1;

  test('accepts a valid request', async () => {
    expect((await service.call(method, path, { key, body })).status).toBe(row.ok);
  });

  test('returns 401 with the authentication scheme without a key', async () => {
    const { status, body: refusal, headers } = await service.call(method, path, { body });
    expect({ status, refusal }).toEqual({ status: 401, refusal: row.refusal('Invalid API key') });
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each([
    'Bearer nobody-has-this-key',
    `Bearer  ${'two-spaces'}`,
    'Basic dGVzdA==',
    'Bearer',
    'Bearer ',
    '',
  ])('returns 401 for the header "%s"', async (authorization) => {
    const { status } = await service.call(method, path, { body, headers: { authorization } });
    expect(status).toBe(401);
  });

  test('returns 401 for a quoted key, for two spaces, and for a key that is too long', async () => {
    for (const authorization of [
      `Bearer "${key}"`,
      `Bearer  ${key}`,
      `Bearer ${key}x`,
      `Bearer ${key.repeat(100)}`,
      `bearer ${key}`,
      key,
    ]) {
      expect((await service.call(method, path, { body, headers: { authorization } })).status).toBe(401);
    }
  });

  test('treats a key of the other type as one without the permission', async () => {
    const { status, body: refusal } = await service.call(method, path, { key: row.otherKey, body });
    const text = row.forbidden === 401 ? 'Invalid API key' : 'Access Denied';
    expect({ status, refusal }).toEqual({ status: row.forbidden, refusal: row.refusal(text) });
  });

  test('returns 405 with Allow for another method, before it validates the key', async () => {
    const served = new Set<string>(
      API_ROUTES.flatMap((each) => (each.path === route.path ? [each.method] : [])),
    );
    for (const other of [wrongMethod, 'PUT', 'DELETE', 'PATCH'].filter((each) => !served.has(each))) {
      const { status, headers, body: refusal } = await service.call(other, path);
      expect({ status, refusal }).toEqual({ status: 405, refusal: row.refusal('Method Not Allowed') });
      expect(headers.get('allow')).toContain(method);
    }
  });

  test('does not match the path with a trailing slash, capital letters or an encoded letter', async () => {
    for (const other of [
      `${path}/`,
      path.toUpperCase(),
      path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    ]) {
      expect((await service.call(method, other, { key, body })).status).toBe(404);
    }
  });

  test('does not quote the key in errors', async () => {
    for (const refused of ['secret-looking-key', row.otherKey]) {
      const answer = await service.call(method, path, { key: refused, body });
      expect(JSON.stringify([answer.body, [...answer.headers]])).not.toContain(refused);
    }
    expect(JSON.stringify(service.lines)).not.toContain('secret-looking-key');
  });

  if (route.body) {
    test('rejects a body of another media type', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
        const { status, body: refusal } = await service.call(method, path, {
          key,
          body: JSON.stringify(body),
          headers: { 'content-type': type },
        });
        const got = type === '' ? 'none' : `"${type}"`;
        const text = `Unsupported Media Type: expected Content-Type application/json, got ${got}`;
        const expected =
          row.wrongType === 415
            ? { message: 'Unsupported Media Type', errors: [{ type: text }] }
            : row.refusal(text);
        expect({ status, refusal }).toEqual({ status: row.wrongType, refusal: expected });
      }
    });

    test('accepts parameters of the media type', async () => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      expect((await service.call(method, path, { key, body, headers })).status).toBe(row.ok);
    });

    test('rejects a body that is too long by its declared or its actual length', async () => {
      const long = JSON.stringify({ filler: 'x'.repeat(tooMuch) });
      const { status, body: refusal } = await service.call(method, path, { key, body: long });
      expect({ status, refusal }).toEqual({
        status: row.tooLarge,
        refusal: row.refusal('Request Entity Too Large'),
      });
    });

    test('counts the bytes of a gzipped body after decoding', async () => {
      const headers = { 'content-encoding': 'gzip' };
      const bomb = gzipSync(JSON.stringify({ filler: 'x'.repeat(tooMuch) }));
      expect(bomb.byteLength).toBeLessThan(20_000);
      expect((await service.call(method, path, { key, body: bomb, headers })).status).toBe(row.tooLarge);
      const right = gzipSync(JSON.stringify(body));
      expect((await service.call(method, path, { key, body: right, headers })).status).toBe(row.ok);
    });

    test('rejects an unknown encoding like an unknown media type', async () => {
      const headers = { 'content-encoding': 'br' };
      expect((await service.call(method, path, { key, body, headers })).status).toBe(row.wrongType);
    });

    test.each([
      ['broken syntax', '{"events":[}'],
      ['nothing', ''],
      ['invalid UTF-8', new Uint8Array([0x22, 0xc3, 0x28, 0x22])],
      ['UTF-16', new Uint8Array(Buffer.from(JSON.stringify({ a: 1 }), 'utf16le'))],
      ['half a gzip', gzipSync('{}').subarray(0, 12)],
    ])('returns 400 for %s', async (name, sent) => {
      const headers = name.includes('gzip') ? { 'content-encoding': 'gzip' } : {};
      const text = 'Error while parsing request body. Please check your syntax.';
      const { status, body: refusal } = await service.call(method, path, { key, body: sent, headers });
      expect({ status, refusal }).toEqual({
        status: 400,
        refusal: { ...(row.refusal(text) as object), error: text },
      });
    });

    test.each(['null', '[]', '5', '"text"', 'true'])('returns 400 for the JSON value %s', async (sent) => {
      expect((await service.call(method, path, { key, body: sent })).status).toBe(400);
    });

    test('ignores a byte order mark', async () => {
      const sent = `\uFEFF${JSON.stringify(body)}`;
      expect((await service.call(method, path, { key, body: sent })).status).toBe(row.ok);
    });

    test('accepts the replacement character (U+FFFD)', async () => {
      const sent = { ...(body as object), partner: 'some\uFFFDone' };
      expect((await service.call(method, path, { key, body: sent })).status).toBe(row.ok);
    });

    test('ignores unknown members', async () => {
      const sent = { ...(body as object), partner: 'someone' };
      expect((await service.call(method, path, { key, body: sent })).status).toBe(row.ok);
    });
  }
});

describe('the values in a body with a client key', () => {
  const sync = '/v1/device-messaging/banners/sync';
  const track = '/v1/device-messaging/banners/track';
  const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const zeros = (count: number) => `{"events":[${'0,'.repeat(count)}0]}`;

  test.each([
    [sync, 'nest deeply', nested(20_000), { error: 'Request body holds more than 1000 values' }],
    [sync, 'stand side by side', zeros(20_000), { error: 'Request body holds more than 1000 values' }],
    [track, 'nest deeply', nested(200_000), { message: 'Request body holds more than 10000 values' }],
    [track, 'stand side by side', zeros(200_000), { message: 'Request body holds more than 10000 values' }],
  ])('of %s are limited if they %s', async (path, _, sent, refusal) => {
    const gzipped = { body: gzipSync(sent), headers: { 'content-encoding': 'gzip' } };
    for (const request of [{ body: sent }, gzipped]) {
      const answer = await service.call('POST', path, { key: CLIENT_KEY, ...request });
      expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: refusal });
    }
  });

  test('are not counted within strings', async () => {
    const body = JSON.stringify({ ...envelope, placements: ['home'], partner: '[,{'.repeat(20_000) });
    expect((await service.call('POST', sync, { key: CLIENT_KEY, body })).status).toBe(200);
  });
});

describe('the order of the checks (contract 1.3)', () => {
  test('checks the path before the key', async () => {
    const { status, body } = await service.call('POST', '/users/unknown');
    expect({ status, body }).toEqual({ status: 404, body: general('Not Found') });
  });

  test('checks the permission before media type, length and JSON syntax', async () => {
    const answer = await service.call('POST', '/users/track', {
      key: CLIENT_KEY,
      body: '{',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(403);
  });

  test('checks the media type before the length', async () => {
    const answer = await service.call('POST', '/users/track', {
      key: SERVER_KEY,
      body: 'x'.repeat(4 * 1024 * 1024 + 1),
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(415);
  });

  test('handles HEAD like GET, without a body', async () => {
    const answer = await service.call('HEAD', '/cdi/integrations', { key: SERVER_KEY });
    expect(answer).toMatchObject({ status: 200, body: '' });
  });
});
