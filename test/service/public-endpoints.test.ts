import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PREVIEW_PATH, TRACK_PATH, VISITOR_JOIN_PATH } from '../../src/protocol/index.ts';
import type { Route } from '../../src/service/api/route.ts';
import { openStore, type Store } from '../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { API_ROUTES, requiresQuery } from '../helpers/api-routes.ts';
import { curl } from '../helpers/curl.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const isForPages = (path: string) =>
  API_ROUTES.some((route) => route.path === path && route.crossOrigin === true);

interface Operation {
  responses: Record<string, { headers?: Record<string, unknown> }>;
}
/** The operation of a route in the document. */
const getOperation = (document: { paths: Record<string, Record<string, Operation>> }, route: Route) =>
  document.paths[route.path]![route.method.toLowerCase()]!;

let service: RunningService;
beforeAll(async () => {
  service = await runService([aWorkspace({ campaigns: [aCampaign()] })]);
});
afterAll(() => service.stop());

describe('GET /openapi.json', () => {
  test('passes the recommended rules of a public linter', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    const problems = await lintFromString({
      source: JSON.stringify(body),
      config: await createConfig({ extends: ['recommended'] }),
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test('has the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const { body } = await service.call('GET', '/openapi.json');
    expect(body.info.version).toBe(version);
  });

  test('describes every endpoint and its actual responses', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    for (const route of API_ROUTES) {
      const answer = await service.call(route.method, route.path);
      expect(Object.keys(getOperation(body, route).responses)).toContain(String(answer.status));
      expect(answer.status).toBe(401);
    }
  });

  test('lists only fields of an exported user that its example returns', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    const { responses } = body.paths['/users/export/ids'].post;
    const user = responses[201].content['application/json'].schema.properties.users.items;
    expect(user.required ?? []).toEqual([]);
  });

  test('lists all four headers of a 429, or only Retry-After for `/users/track`', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    for (const route of API_ROUTES) {
      expect(Object.keys(getOperation(body, route).responses['429']!.headers!)).toEqual(
        route.path.startsWith('/users/track')
          ? ['X-Ratelimit-Retry-After']
          : ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Retry-After'],
      );
    }
  });

  test('describes each error and its headers', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    for (const route of API_ROUTES) {
      const { path, method, query, body: requestBody } = route;
      const operation = getOperation(body, route);
      const key = isForPages(path) ? CLIENT_KEY : SERVER_KEY;
      const plain = { 'content-type': 'text/plain' };
      const answers = [await service.call('DELETE', path, { key })];
      if (method === 'GET') answers.push(await service.call('GET', `${path}?cursor=!&page=!`, { key }));
      else {
        answers.push(await service.call(method, path, { key, body: [] }));
        answers.push(await service.call(method, path, { key, body: {}, headers: plain }));
        answers.push(await service.call(method, path, { key, body: 'x'.repeat(4_200_000) }));
      }
      // Some routes have no body or query to validate.
      const invalid = query || requestBody ? 400 : path.endsWith('}/sync') ? 404 : 200;
      expect(answers.map(({ status }) => status)).toContain(invalid);
      for (const { status, headers } of answers) {
        const described = Object.keys(operation.responses[status]?.headers ?? {}).map((name) =>
          name.toLowerCase(),
        );
        const told = [...headers.keys()].filter((name) => /^(?:allow|x-ratelimit-.*)$/.test(name));
        // A banner request counts against its user; if it names none, the response has no limit headers.
        const expected = status === 400 && told.length === 0 && isForPages(path) ? described : told;
        expect({ path, status, described: described.sort() }).toEqual({
          path,
          status,
          described: expected.sort(),
        });
      }
    }
  });

  test('has the size limits that the service applies', async () => {
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const of = (path: string) => paths[path].post.requestBody.content['application/json'].schema.properties;
    const arrays = ['attributes', 'events', 'purchases'];
    for (const array of arrays) {
      expect(of('/users/track')[array].maxItems).toBe(75);
      expect(of('/users/track/bulk')[array].maxItems).toBe(1_000);
      const [id] = of('/users/track')[array].items.properties.external_id.anyOf[0].anyOf;
      expect(id.maxLength).toBe(987);
    }
    expect(of('/users/alias/new').user_aliases).toMatchObject({
      maxItems: 50,
      items: {
        properties: {
          external_id: { anyOf: [{ anyOf: [{ maxLength: 987 }, {}] }, {}] },
          alias_name: { maxLength: 236 },
        },
      },
    });
    expect(of('/v1/device-messaging/banners/track')).toMatchObject({
      external_user_id: { maxLength: 986 },
      events: { maxItems: 1_000 },
    });
    expect(of('/v1/device-messaging/banners/sync')).toMatchObject({
      external_user_id: { maxLength: 986 },
      device_id: { maxLength: 1_011 },
    });
  });

  test('allows an empty prioritization, as the service does', async () => {
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const { schema } = paths['/users/identify'].post.requestBody.content['application/json'];
    const { prioritization } = schema.properties.emails_to_identify.items.properties;
    expect(prioritization).not.toHaveProperty('minItems');
    const emails_to_identify = [{ external_id: 'u-9', email: 'nobody@example.org', prioritization: [] }];
    const answer = await service.call('POST', '/users/identify', {
      key: SERVER_KEY,
      body: { emails_to_identify },
    });
    expect(answer.status).toBe(201);
  });

  test('omits the prioritization rule that the service rejects in /users/delete', async () => {
    const { paths } = (await service.call('GET', '/openapi.json')).body;
    const { properties } = paths['/users/delete'].post.requestBody.content['application/json'].schema;
    const rules = JSON.stringify(properties.email_addresses);
    expect(rules).toContain('most_recently_updated');
    expect(rules).not.toContain('least_recently_updated');
  });

  test('warns about early requests and lost responses for every endpoint that stores data', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    for (const route of API_ROUTES) {
      const { responses } = getOperation(body, route);
      const isTold = responses['503'] !== undefined && responses['504'] !== undefined;
      expect({ path: route.path, isTold }).toEqual({ path: route.path, isTold: route.writes === true });
    }
  });

  test('has examples that the service accepts', async () => {
    const { body } = await service.call('GET', '/openapi.json');
    for (const { method, path, operation, response } of API_ROUTES) {
      const { example } = operation;
      // Events need a banner ID, visitor joins a user token, and previews a link token.
      if (example === undefined || [TRACK_PATH, VISITOR_JOIN_PATH, PREVIEW_PATH].includes(path)) continue;
      const key = isForPages(path) ? CLIENT_KEY : SERVER_KEY;
      const answer = await service.call(method, path, { key, body: { ...(example as object) } });
      // This workspace has no drafts.
      const status = method === 'PUT' ? 400 : response.status;
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(body.paths[path][method.toLowerCase()].requestBody.content['application/json'].example).toEqual(
        example,
      );
    }
  });
});

describe('GET /docs', () => {
  test('shows every endpoint on a page without scripts, whose policy forbids scripts', async () => {
    const { status, headers, body } = await service.call('GET', '/docs');
    expect(status).toBe(200);
    for (const { path } of API_ROUTES) expect(body).toContain(`<code>${path}</code>`);
    expect(body).not.toMatch(/<script|\son\w+=|style="/);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  const text = (html: string) =>
    html
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');

  test('has a table of contents with every endpoint', async () => {
    const { body } = await service.call('GET', '/docs');
    const [contents, main] = body.split('<main>');
    const links = [...contents.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    const ids = [...main.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(links).toEqual(ids);
    expect(ids).toEqual(expect.arrayContaining(API_ROUTES.map(({ operation }) => operation.id)));
  });

  test('describes every field of a body', async () => {
    const { body } = await service.call('GET', '/docs');
    const rows = [
      ...body.matchAll(/<tr><td><code>([^<]+)<\/code><\/td><td>(.*?)<\/td><td>(.*?)<\/td><\/tr>/g),
    ];
    expect(rows.filter(([, , type, what]) => !type || !what).map(([, path]) => path)).toEqual([]);
    expect(rows.map(([, path]) => path)).toEqual(
      expect.arrayContaining(['events[].name', 'banners.*.properties.*.value', 'results[].integration_id']),
    );
    const plain = rows.map((row) => row.slice(1).map(text).join(' | '));
    expect(plain).toContain(
      'events[].event_type | "impression" or "click" or "dismiss", required | What happened.',
    );
  });

  test('has a working example call for each endpoint', async () => {
    const { body } = await service.call('GET', '/docs');
    const calls = [...body.matchAll(/<code>(curl -s .*?)<\/code>/gs)].map(([, call]) => text(call));
    const answers = await Promise.all(
      calls.map(async (call) => {
        const path = /\$PLACARD_ENDPOINT([^"]+)/.exec(call)?.[1] ?? '';
        const method = /-X (\w+)/.exec(call)?.[1] ?? (call.includes(' -d ') ? 'POST' : 'GET');
        const PLACARD_API_KEY = isForPages(path) ? CLIENT_KEY : SERVER_KEY;
        const { status } = await curl(call, { PLACARD_ENDPOINT: service.url, PLACARD_API_KEY });
        return [`${method} ${path}`, status];
      }),
    );
    expect(Object.fromEntries(answers)).toEqual({
      ...Object.fromEntries(
        API_ROUTES.map((route) => [
          `${route.method} ${route.path}`,
          requiresQuery(route) ? 400 : route.response.status,
        ]),
      ),
      // This workspace has none, and no user has received the banner of the example.
      'GET /cdi/integrations': 404,
      'POST /cdi/integrations/{integration_id}/sync': 404,
      'GET /cdi/integrations/{integration_id}/job_sync_status': 404,
      'POST /v1/device-messaging/banners/track': 400,
      // The campaign has no draft.
      'PUT /campaigns/translations': 400,
      // The link does not exist.
      'POST /placard/preview': 401,
      // The app has no user tokens configured.
      'POST /placard/visitors/join': 403,
      'GET /healthz': 200,
      'GET /readyz': 200,
    });
  });

  test('lists the limits of each endpoint, and where to set them', async () => {
    const { body } = await service.call('GET', '/docs');
    const shown = text(body);
    expect(shown).toContain(
      '3,000 requests in 3 seconds, unless the workspace file says otherwise in limits.users_track.',
    );
    expect(shown).toContain('A body has at most 2 MB. 50 requests in a second');
    expect(shown).toContain('60 requests in 60 seconds for each user, unless');
    expect(shown).toContain('A body has at most 64 KB. ');
    expect(shown).toContain('A body has at most 512 KB. ');
  });
});

describe('GET /metrics', () => {
  test('counts requests, latencies, objects, errors by code and store calls, without workspace names', async () => {
    await service.call('POST', '/users/track', {
      key: SERVER_KEY,
      body: {
        attributes: [
          { external_id: 'u-1', tier: 'gold' },
          { email: 'not an address' },
          { external_id: 'u-2', first_name: 5, 'my secret attribute': 'x'.repeat(300) },
        ],
      },
    });
    const { status, headers, body } = await service.call('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(body).toMatch(/placard_http_requests_total\{endpoint="\/users\/track",status="201"\} \d+/);
    expect(body).toMatch(/placard_http_request_duration_seconds_count\{endpoint="\/users\/track"\} \d+/);
    expect(body).toMatch(/placard_objects_accepted_total\{endpoint="\/users\/track",kind="attributes"\} \d+/);
    expect(body).toMatch(
      /placard_objects_rejected_total\{endpoint="\/users\/track",code="EMAIL_BAD_FORMAT"\} \d+/,
    );
    expect(body).toMatch(/placard_store_operation_duration_seconds_count\{operation="write"\} \d+/);
    expect(body).toMatch(/placard_store_in_flight\{operation="write"\} 0/);
    // Of a file only.
    expect(body).not.toContain('placard_sqlite_wal_bytes');
    for (const name of [
      'placard_commit_queue_seconds',
      'placard_commit_duration_seconds',
      'placard_commit_batch_size',
    ]) {
      expect(body).toMatch(new RegExp(`${name}_count [1-9]`));
    }
    expect(body).not.toContain('placard_data_points{');
    expect(body).not.toMatch(/secret|not an address|u-1|test-server-key/);
  });

  test('requires its token and counts data points by workspace if a token is set', async () => {
    const guarded = await runService([aWorkspace()], { metricsToken: 'a-token' });
    const attributes = [{ external_id: 'u-1', tier: 'gold' }];
    await guarded.call('POST', '/users/track', { key: SERVER_KEY, body: { attributes } });
    const ask = (key?: string) => guarded.call('GET', '/metrics', key === undefined ? {} : { key });
    for (const key of [undefined, 'another']) {
      const { status, body } = await ask(key);
      expect([status, JSON.stringify(body).includes('placard_http_requests_total')]).toEqual([401, false]);
    }
    const { status, body } = await ask('a-token');
    expect(status).toBe(200);
    expect(body).toMatch(/placard_data_points\{workspace="test",day="2026-03-01"\} \d+/);
    await guarded.stop();
  });

  test('reports the number of running store calls', async () => {
    const store = await openStore(':memory:');
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const loadTargetingData: Store['loadTargetingData'] = async (...given) => {
      asked.resolve();
      await held.promise;
      return store.loadTargetingData(...given);
    };
    const running = await runService([aWorkspace()], { store: { ...store, loadTargetingData } });
    const waiting = async () =>
      /placard_store_in_flight\{operation="load_targeting_data"\} (\d+)/.exec(
        (await running.call('GET', '/metrics')).body,
      )?.[1];
    try {
      expect(await waiting()).toBe('0');
      const answered = running.call('POST', '/v1/device-messaging/banners/sync', {
        key: CLIENT_KEY,
        body: { external_user_id: 'u-1', app_id: APP_ID, app_version: '1', placements: ['home'] },
      });
      await asked.promise;
      expect(await waiting()).toBe('1');
      held.resolve();
      expect((await answered).status).toBe(200);
      expect(await waiting()).toBe('0');
    } finally {
      await running.stop();
    }
  });

  test.each<[string, () => Promise<never>]>([
    ['fails', () => Promise.reject(new Error('no database'))],
    ['does not respond', () => new Promise<never>(() => undefined)],
  ])('omits store metrics if the store %s', async (_, next) => {
    const store = await openStore(':memory:');
    const dataPoints: Store['dataPoints'] = () => ({ [Symbol.asyncIterator]: () => ({ next }) });
    const broken = await runService([aWorkspace()], {
      store: { ...store, dataPoints },
      metricsToken: 'a-token',
    });
    try {
      const { status, body } = await broken.call('GET', '/metrics', { key: 'a-token' });
      expect(status).toBe(200);
      expect(body).toContain('placard_http_requests_total');
      expect(body).not.toContain('placard_data_points{');
    } finally {
      await broken.stop();
    }
  });

  test('does not use client input as labels', async () => {
    const attributes = Array.from({ length: 50 }, (_, index) => ({
      external_id: 'u-3',
      [`invented ${index}`]: 'x'.repeat(300),
    }));
    await service.call('POST', '/users/track', { key: SERVER_KEY, body: { attributes } });
    for (let index = 0; index < 20; index += 1) await service.call('GET', `/invented/${index}`);
    const { body } = await service.call('GET', '/metrics');
    expect(body).not.toContain('invented');
    expect(body.match(/^placard_objects_rejected_total\{/gm).length).toBeLessThan(20);
  });
});

test('GET / links to the documentation', async () => {
  expect(await service.call('GET', '/')).toMatchObject({
    status: 404,
    body: {
      message: 'Not Found',
      errors: [{ type: 'There is no page at /: the API is described at /docs' }],
    },
  });
});

describe('GET /healthz and /readyz', () => {
  test('succeed for GET and HEAD', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await service.call('GET', path)).status).toBe(200);
      expect(await service.call('HEAD', path)).toMatchObject({ status: 200, body: '' });
      const { status, headers } = await service.call('POST', path);
      expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' });
    }
  });

  test('distinguish a running process from an available store', async () => {
    const store = await openStore(':memory:');
    const ping: Store['ping'] = () => Promise.reject(new Error('no database'));
    const broken = await runService([aWorkspace()], { store: { ...store, ping } });
    try {
      expect((await broken.call('GET', '/healthz')).status).toBe(200);
      expect((await broken.call('GET', '/readyz')).status).toBe(503);
    } finally {
      await broken.stop();
    }
  });
});

describe('an unexpected failure', () => {
  test('returns a 500 in the format of the endpoint, and does not log the error message', async () => {
    const store = await openStore(':memory:');
    const fail = () => Promise.reject(new Error('duplicate key (email)=(kim@example.org)'));
    const broken = await runService([aWorkspace({ campaigns: [aCampaign()] })], {
      store: { ...store, write: fail as Store['write'], loadTargetingData: fail },
    });
    try {
      const tracked = await broken.call('POST', '/users/track', {
        key: SERVER_KEY,
        body: { attributes: [{ external_id: 'u-1' }] },
      });
      const text = 'Internal Server Error';
      expect({ status: tracked.status, body: tracked.body }).toEqual({
        status: 500,
        body: { message: text, errors: [{ type: text }] },
      });
      const synced = await broken.call('POST', '/v1/device-messaging/banners/sync', {
        key: CLIENT_KEY,
        body: { external_user_id: 'u-1', app_id: APP_ID, app_version: '1', placements: ['home'] },
      });
      expect({ status: synced.status, body: synced.body }).toEqual({ status: 500, body: { error: text } });
      const failures = broken.lines.filter(({ message }) => message === 'request failed');
      expect(failures).toHaveLength(2);
      expect(failures[0]).toMatchObject({ level: 'error', path: '/users/track', error: 'Error' });
      expect(JSON.stringify(failures)).not.toContain('example.org');
    } finally {
      await broken.stop();
    }
  });
});
